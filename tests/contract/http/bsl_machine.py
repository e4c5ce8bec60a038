"""Carries out a module in the 1C language: as much of the language as docs/1c uses, on tree-sitter's tree."""

# ruff: noqa: N802, N818

from __future__ import annotations

import operator
from pathlib import Path

import tree_sitter_bsl
from bsl_platform import CONSTANTS, FUNCTIONS, TYPES, Array, PlatformError, Structure
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_bsl.language()))
ARITHMETIC = {"-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod}
ORDER = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


class _Return(Exception):
    pass


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def word(node: Node) -> str:
    return node.text.decode()


def parts(node: Node) -> list[Node]:
    return [child for child in node.children if child.type not in ("line_comment", "//")]


class Module:
    """The functions of a module; ``call`` carries one out."""

    def __init__(self, path: Path) -> None:
        tree = PARSER.parse(path.read_bytes())
        assert not tree.root_node.has_error
        self.functions = {
            word(node.child_by_field_name("name")): node
            for node in tree.root_node.children
            if node.type in ("function_definition", "procedure_definition")
        }

    def call(self, name: str, *given):
        node, local = self.functions[name], {}
        declared = [one for one in node.child_by_field_name("parameters").children if one.type == "parameter"]
        assert len(given) <= len(declared), name
        for place, parameter in enumerate(declared):
            if place < len(given) and given[place] is not Ellipsis:
                local[self._name(parameter)] = given[place]
            else:
                default = parameter.child_by_field_name("def")
                assert default is not None, f"{name}: no {word(parameter)}"
                local[self._name(parameter)] = self.value(default, local)
        try:
            self.run(parts(node), local)
        except _Return as result:
            return result.args[0]
        return None

    def _name(self, parameter: Node) -> str:
        return word(parameter.child_by_field_name("name"))

    def run(self, nodes: list[Node], local: dict) -> None:
        for node in nodes:
            step = getattr(self, f"do_{node.type}", None)
            if step is not None:
                step(node, local)
            else:
                assert not node.type.endswith(("statement", "clause")), node.type

    def do_return_statement(self, node: Node, local: dict) -> None:
        result = node.child_by_field_name("result")
        raise _Return(None if result is None else self.value(result, local))

    def do_break_statement(self, node: Node, local: dict) -> None:
        raise _Break

    def do_continue_statement(self, node: Node, local: dict) -> None:
        raise _Continue

    def do_call_statement(self, node: Node, local: dict) -> None:
        self.value(node, local)

    def do_assignment_statement(self, node: Node, local: dict) -> None:
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if target.type == "identifier":
            local[word(target)] = self.value(value, local)
            return
        owner, name = target.children[0], word(target.children[-1])
        self.value(owner, local).set(name, self.value(value, local))

    def do_if_statement(self, node: Node, local: dict) -> None:
        body, holds = [], None
        for child in parts(node):
            if child.type == "expression":
                holds = self.truth(child, local)
            elif child.type in ("elseif_clause", "else_clause"):
                if holds:
                    break
                inner = parts(child)
                holds = child.type == "else_clause" or self.truth(inner[1], local)
                body = inner
            elif holds and body[:1] != [child]:
                body.append(child)
        if holds:
            self.run(body, local)

    def do_try_statement(self, node: Node, local: dict) -> None:
        children = parts(node)
        catch = next(place for place, child in enumerate(children) if child.type == "EXCEPT_KEYWORD")
        try:
            self.run(children[:catch], local)
        except PlatformError:
            self.run(children[catch:], local)

    def do_for_statement(self, node: Node, local: dict) -> None:
        children = parts(node)
        first, last = (self.value(child, local) for child in children if child.type == "expression")
        self._loop(range(int(first), int(last) + 1), children, local)

    def do_for_each_statement(self, node: Node, local: dict) -> None:
        children = parts(node)
        items = self.value(next(child for child in children if child.type == "expression"), local)
        self._loop(items, children, local)

    def _loop(self, items, children: list[Node], local: dict) -> None:
        name = word(next(child for child in children if child.type == "identifier"))
        start = next(place for place, child in enumerate(children) if child.type == "DO_KEYWORD")
        for item in items:
            local[name] = item
            try:
                self.run(children[start:], local)
            except _Break:
                return
            except _Continue:
                continue

    def truth(self, node: Node, local: dict) -> bool:
        value = self.value(node, local)
        assert isinstance(value, bool), word(node)
        return value

    def value(self, node: Node, local: dict):
        return getattr(self, f"of_{node.type}")(node, local)

    def of_expression(self, node: Node, local: dict):
        return self.value(parts(node)[0], local)

    of_const_expression = of_call_statement = of_access = of_property_access = of_call_expression = None

    def of_identifier(self, node: Node, local: dict):
        name = word(node)
        if name in local:
            return local[name]
        assert name in CONSTANTS, name
        return CONSTANTS[name]

    def of_boolean(self, node: Node, local: dict):
        return word(node).lower() == "истина"

    def of_UNDEFINED_KEYWORD(self, node: Node, local: dict):
        return None

    def of_number(self, node: Node, local: dict):
        return float(word(node)) if "." in word(node) else int(word(node))

    def of_string(self, node: Node, local: dict):
        return "\n".join(
            word(part).replace('""', '"') for part in node.children if part.type == "string_content"
        )

    def of_ternary_expression(self, node: Node, local: dict):
        chosen = "consequence" if self.truth(node.child_by_field_name("condition"), local) else "alternative"
        return self.value(node.child_by_field_name(chosen), local)

    def of_unary_expression(self, node: Node, local: dict):
        argument = node.child_by_field_name("argument")
        if word(node.child_by_field_name("operator")).lower() == "не":
            return not self.truth(argument, local)
        return -self.value(argument, local)

    def of_binary_expression(self, node: Node, local: dict):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = word(node.child_by_field_name("operator"))
        if sign.lower() in ("и", "или"):
            first = self.truth(left, local)
            return first if first is (sign.lower() == "или") else self.truth(right, local)
        first, second = self.value(left, local), self.value(right, local)
        if sign in ("=", "<>"):
            same = isinstance(first, bool) == isinstance(second, bool) and first == second
            return same is (sign == "=")
        if sign == "+":
            # A text swallows whatever is added to it.
            return first + (str(second) if isinstance(first, str) else second)
        return (ARITHMETIC | ORDER)[sign](first, second)

    def of_new_expression(self, node: Node, local: dict):
        name = word(node.child_by_field_name("type"))
        given = self._arguments(node.child_by_field_name("arguments"), local)
        return TYPES[name](*(None if one is Ellipsis else one for one in given))

    def of_method_call(self, node: Node, local: dict):
        name = word(node.child_by_field_name("name"))
        given = self._arguments(node.child_by_field_name("arguments"), local)
        if name in self.functions:
            return self.call(name, *given)
        return FUNCTIONS[name](*given)

    def _chain(self, node: Node, local: dict):
        """A value and what is taken of it: a field, an element, the result of a method."""
        first, *rest = (child for child in parts(node) if child.type not in (".", "[", "]", ";"))
        value = self.value(first, local)
        for step in rest:
            if step.type == "index":
                value = value.at(self.value(parts(step)[0], local))
            elif step.type == "method_call":
                value = self._method(value, step, local)
            else:
                value = self._field(value, word(step))
        return value

    def _field(self, value, name: str):
        if isinstance(value, dict):
            return value[name]
        return value.get(name) if isinstance(value, Structure) else getattr(value, name)

    def _method(self, value, node: Node, local: dict):
        name, arguments = word(node.child_by_field_name("name")), node.child_by_field_name("arguments")
        assert isinstance(getattr(type(value), name, None), type(lambda: 0)), f"{type(value).__name__}.{name}"
        if name == "Свойство" and "," in [child.type for child in arguments.children]:
            # The second argument is where the value goes.
            asked, target = (child for child in arguments.children if child.type == "expression")
            field = self.value(asked, local)
            local[word(target)] = value.get(field) if value.Свойство(field) else None
            return value.Свойство(field)
        return getattr(value, name)(*self._arguments(arguments, local))

    def _arguments(self, node: Node | None, local: dict) -> list:
        """Values of the arguments; one that is left out is an ellipsis."""
        if node is None or len(parts(node)) == 2:
            return []
        found, empty = [], True
        for child in parts(node)[1:]:
            if child.type in (",", ")"):
                if empty:
                    found.append(Ellipsis)
                empty = True
            else:
                found.append(self.value(child, local))
                empty = False
        return found


for _name in ("const_expression", "call_statement", "access", "property_access", "call_expression"):
    setattr(Module, f"of_{_name}", Module._chain)

__all__ = ["Array", "Module", "PlatformError", "Structure"]
