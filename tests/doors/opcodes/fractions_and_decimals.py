"""Numbers in Python: fractions, and decimals written in Python."""
import fractions
import _pydecimal

half = fractions.Fraction(1, 2)
total = sum(fractions.Fraction(1, n) for n in range(1, 25))
print(total, half ** 3, fractions.Fraction("3.25").limit_denominator(3), round(total, 2))
with _pydecimal.localcontext() as context:
    context.prec = 12
    print(_pydecimal.Decimal(2).sqrt(), _pydecimal.Decimal("1.10") / 3)
