"""Parsing, walking, changing and writing back a tree."""
import ast

SOURCE = '''
def f(a, *b, c=1, **d) -> int:
    """doc"""
    return [x * 2 for x in b if x > a] or {k: v for k, v in d.items()} if c else lambda: (yield)
class C(f, metaclass=type):
    x: int = 3
    async def g(self):
        async with self as y, y:
            await y
        try:
            raise ValueError("%s" % y) from None
        except* (TypeError, ValueError) as e:
            del e
        finally:
            assert y, f"{y!r:>{10}}"
'''


class Rename(ast.NodeTransformer):
    def visit_Name(self, node):
        return ast.copy_location(ast.Name(node.id.upper(), node.ctx), node)


tree = Rename().visit(ast.parse(SOURCE))
print(len(list(ast.walk(tree))), ast.unparse(tree)[:60], len(ast.dump(tree, indent=1)))
