"""The table of operators. Each compiles a node to a function; see _rules."""

from __future__ import annotations

from typing import Final

from ._evaluation import Operator, argument
from ._op_data import compile_missing, compile_missing_some, compile_var
from ._op_fractional import compile_fractional
from ._op_lists import compile_filter, compile_map, compile_merge, compile_quantifier, compile_reduce
from ._op_logic import (
    compile_all_of,
    compile_any_of,
    compile_equality,
    compile_first,
    compile_greater,
    compile_if,
    compile_less,
    compile_truthy,
    loose_equal,
    negated,
    same_value,
)
from ._op_math import compile_arithmetic, compile_extreme, compile_minus, compile_product, compile_sum, divide, remainder
from ._op_text import compile_affix, compile_cat, compile_in, compile_sem_ver, compile_substr

OPERATORS: Final[dict[str, Operator]] = {
    "var": Operator(compile_var, arity=2),
    "missing": Operator(compile_missing, stateful=True),
    "missing_some": Operator(compile_missing_some, arity=2, stateful=True),
    "log": Operator(lambda c, node: argument(c, node, 0), arity=1),  # it prints nothing
    "if": Operator(compile_if),
    "?:": Operator(compile_if),
    "and": Operator(compile_first(False), compile_all_of),
    "or": Operator(compile_first(True), compile_any_of),
    "!": Operator(test=negated(compile_truthy), arity=1),
    "!!": Operator(test=compile_truthy, arity=1),
    "==": Operator(test=compile_equality(loose_equal), arity=2),
    "===": Operator(test=compile_equality(same_value), arity=2),
    "!=": Operator(test=negated(compile_equality(loose_equal)), arity=2),
    "!==": Operator(test=negated(compile_equality(same_value)), arity=2),
    "<": Operator(test=compile_less(False), arity=3),
    "<=": Operator(test=compile_less(True), arity=3),
    ">": Operator(test=compile_greater(False), arity=2),
    ">=": Operator(test=compile_greater(True), arity=2),
    "+": Operator(compile_sum),
    "*": Operator(compile_product, stateful=True),
    "-": Operator(compile_minus, arity=2),
    "/": Operator(compile_arithmetic(divide), arity=2),
    "%": Operator(compile_arithmetic(remainder), arity=2),
    "max": Operator(compile_extreme(1)),
    "min": Operator(compile_extreme(-1)),
    "in": Operator(test=compile_in, arity=2),
    "cat": Operator(compile_cat, stateful=True),
    "substr": Operator(compile_substr, arity=3),
    "map": Operator(compile_map, stateful=True),
    "filter": Operator(compile_filter, stateful=True),
    "reduce": Operator(compile_reduce, stateful=True),
    "all": Operator(test=compile_quantifier(False), stateful=True),
    "some": Operator(test=compile_quantifier(True), stateful=True),
    "none": Operator(test=negated(compile_quantifier(True)), stateful=True),
    "merge": Operator(compile_merge, stateful=True),
    "fractional": Operator(compile_fractional, stateful=True),
    "starts_with": Operator(compile_affix(str.startswith)),
    "ends_with": Operator(compile_affix(str.endswith)),
    "sem_ver": Operator(compile_sem_ver),
}
