"""Templates, and a parser with callbacks."""
import html.parser
import string


class Text(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.depth, self.found = 0, []

    def handle_starttag(self, tag, attributes):
        self.depth += 1
        self.found += [value for name, value in attributes if name == "href"]

    def handle_endtag(self, tag):
        self.depth -= 1

    def handle_data(self, data):
        self.found.append(data.strip())


page = string.Template("<ul>" + "<li class=x><a href='/$name'>$name &amp; $other</a></li>" * 5 + "</ul>")
parser = Text()
parser.feed(page.substitute(name="a", other="b"))
print(parser.depth, parser.found[:3], string.capwords("the end of it"))
