"""Evaluates expressions, one per line, as Python does, and prints a result per line as fuzz_expressions.h has it.

Python's parser, operators and short circuits are used. What tune does otherwise on purpose is told here: integers that
leave 64 bits, and what has no number (texts in arithmetic, complex numbers, infinite powers of finite numbers), fail;
`/` divides the nearest doubles; a pair, however it is written, holds two integers.
"""

import ast
import math
import struct
import sys

NAMES = {
    "BM": 128, "BN": -7, "ZERO": 0, "SMALLEST": -(2**63), "LARGEST": 2**63 - 1, "HALF": 0.5, "TINY": -1e-300,
    "RASTER": "row", "NOTHING": "", "CLUSTER": (2, 1), "FLAG": True, "device.cores": 16,
}


class Fails(Exception):
    pass


def fitting(value):
    if isinstance(value, complex):
        raise Fails
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        raise Fails
    return value


def number(value):
    if not isinstance(value, (int, float)):
        raise Fails
    return value


def power(a, b):
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        if abs(a) > 1 and b > 64:
            raise Fails
        return int(a) ** int(b)
    return float(a) ** float(b)


OPERATORS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: float(a) / float(b),
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: power,
}
COMPARISONS = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def compare(op, a, node):
    if not isinstance(op, (ast.In, ast.NotIn)):
        b = value_of(node)
        return COMPARISONS[type(op)](a, b), b
    among = [value_of(element) for element in node.elts]
    return any(a == element for element in among) == isinstance(op, ast.In), None


def call(name, values):
    if name == "abs":
        return abs(number(values[0]))
    if name == "ceil_div":
        a, b = (number(each) for each in values)
        return -(-float(a) // b) if isinstance(a, float) or isinstance(b, float) else -(-a // b)
    return {"min": min, "max": max}[name](*values)


def value_of(node):
    return fitting(plain_value_of(node))


def plain_value_of(node):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return NAMES[node.id]
    if isinstance(node, ast.Attribute):
        return NAMES[node.value.id + "." + node.attr]
    if isinstance(node, ast.BinOp):
        left, right = value_of(node.left), value_of(node.right)
        return OPERATORS[type(node.op)](number(left), number(right))
    if isinstance(node, ast.UnaryOp):
        operand = value_of(node.operand)
        return not operand if isinstance(node.op, ast.Not) else -number(operand)
    if isinstance(node, ast.BoolOp):
        for each in node.values:
            value = value_of(each)
            if bool(value) == isinstance(node.op, ast.Or):
                break
        return value
    if isinstance(node, ast.IfExp):
        return value_of(node.body) if value_of(node.test) else value_of(node.orelse)
    if isinstance(node, ast.Compare):
        left, holds = value_of(node.left), True
        for op, right in zip(node.ops, node.comparators):
            holds, left = compare(op, left, right)
            if not holds:
                break
        return holds
    if isinstance(node, ast.Call):
        return call(node.func.id, [value_of(each) for each in node.args])
    if isinstance(node, ast.Tuple):
        pair = [value_of(each) for each in node.elts]
        if not all(isinstance(each, int) for each in pair):
            raise Fails
        return tuple(int(each) for each in pair)
    if isinstance(node, ast.Subscript):
        value, index = value_of(node.value), value_of(node.slice)
        if not isinstance(value, tuple):
            raise Fails
        return value[index]
    raise NotImplementedError(ast.dump(node))


def written(value):
    if isinstance(value, bool):
        return "b %d" % value
    if isinstance(value, int):
        return "i %d" % value
    if isinstance(value, float):
        return "f nan" if math.isnan(value) else "f " + struct.pack(">d", value).hex()
    if isinstance(value, tuple):
        return "p %d %d" % value
    return "s " + value.encode().hex()


for line in sys.stdin:
    try:
        print(written(value_of(ast.parse(line.strip(), mode="eval").body)))
    except (Fails, ZeroDivisionError, OverflowError, TypeError, IndexError, ValueError):
        print("fails")
