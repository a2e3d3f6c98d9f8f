"""Loops of Python over dynamic sizes: `for i in range(len(x)):` and `for row in x:`.

Python repeats the body as often as the example says. Within `loops_as_functions()`, such a loop
calls a function with the body instead, which the capture may run once for all sizes. What the body
assigns are parameters and results of that function.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.source_location import parsed

from .collected_rows import appended, cat, collected_names, joins_of, stack
from .iteration import is_dynamic
from .number_ranges import SizeRange, size_range
from .other_calls import functions_of

UNSET = type("Unset", (), {"__repr__": lambda _: "a variable without a value"})()

_PREFIX = "__sardonyx_"
_HOOKS = f"{_PREFIX}loops__"
_ITERATED = frozenset({"range", "enumerate", "zip"})
# Of code: what calls of it pass and get.
_KINDS = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)  # fmt: skip
# What a function cannot do for the code that calls it, or what belongs to the function around it.
_UNMOVABLE = (
    ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Try,
    ast.AsyncFor, ast.AsyncWith, ast.Match,
)  # fmt: skip

# The values of variables, by their names.
State = Mapping[str, Any]


class LoopTracer(Protocol):
    """What captures loops over dynamic sizes."""

    def loop(
        self,
        over: Items,
        body: Callable[..., State],
        before: State,
        collected: Sequence[str],
    ) -> State:
        """What the variables of `before` hold behind the loop, and CollectedRows of those that are
        `collected`. `body` takes an element and the values of the variables of `before`, in order,
        and gives the values of its own variables."""


_tracers: list[LoopTracer] = []


@contextmanager
def loops_traced(tracer: LoopTracer) -> Iterator[None]:
    """Within it, the tracer has the loops over dynamic sizes that are functions."""
    _tracers.append(tracer)
    try:
        yield
    finally:
        _tracers.pop()


@dataclass(frozen=True)
class Items:
    """What a loop goes through: its number of elements, and the element of an index."""

    count: Any
    item: Callable[[Any], Any]

    @staticmethod
    def of(value: Any) -> Items | None:
        """None of what is no range and no tensor, and of what has a constant number of elements."""
        if isinstance(value, _Joined):
            return value.items
        if isinstance(value, SizeRange):
            return Items(value.count, lambda i: value.start + i * value.step)
        if isinstance(value, torch.Tensor) and value.dim() > 0:
            count: Any = value.shape[0]
            return Items(count, lambda i: value.select(0, i)) if is_dynamic(count) else None
        return None


class _Joined:
    """What `zip` or `enumerate` gives of elements of a dynamic number; Python's, where a loop that
    is no function goes through it."""

    def __init__(self, items: Items, python: Callable[[], Iterator[Any]]) -> None:
        self.items = items
        self._python = python

    def __iter__(self) -> Iterator[Any]:
        return self._python()


class _Hooks:
    """What the loops of changed functions call."""

    unset = UNSET
    range = staticmethod(size_range)
    stack = staticmethod(stack)
    cat = staticmethod(cat)

    @staticmethod
    def enumerate(iterable: Any, start: Any = 0) -> Any:
        items = Items.of(iterable) if _tracers else None
        if items is None:
            return enumerate(iterable, start)
        joined = Items(items.count, lambda i: (start + i, items.item(i)))
        return _Joined(joined, lambda: enumerate(iterable, start))

    @staticmethod
    def zip(*iterables: Any, strict: bool = False) -> Any:
        items = [Items.of(each) if _tracers else None for each in iterables]
        known = [each for each in items if each is not None]
        counts = [each.count for each in known]
        if not known or len(known) < len(items) or not all(_is_same(counts[0], n) for n in counts):
            return zip(*iterables, strict=strict)
        joined = Items(counts[0], lambda i: tuple(each.item(i) for each in known))
        return _Joined(joined, lambda: zip(*iterables, strict=strict))

    @staticmethod
    def is_dynamic(iterable: Any) -> bool:
        return bool(_tracers) and Items.of(iterable) is not None

    @staticmethod
    def loop(
        iterable: Any,
        body: Callable[..., State],
        known: State,
        names: Sequence[str],
        collected: Mapping[str, str],
    ) -> State:
        """`collected`: the names of elements, by the lists that they are appended to."""
        over = Items.of(iterable)
        assert over is not None, "the loop asked is_dynamic()"
        before = {name: known.get(name, UNSET) for name in names}
        if any(known.get(name) != [] for name in collected):
            raise DeclinedError("a loop over a dynamic size appends to a list with elements")
        after = _tracers[-1].loop(over, body, before, list(collected.values()))
        return {**after, **{name: after[each] for name, each in collected.items()}}


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.SymInt) and isinstance(b, torch.SymInt):
        return bool(a.node.expr == b.node.expr)
    return not isinstance(a, torch.SymInt) and not isinstance(b, torch.SymInt) and a == b


@contextmanager
def loops_as_functions(model: torch.nn.Module) -> Iterator[bool]:
    """Within it, loops in the code of the model's modules are functions where they go through what
    is dynamic; whether there is any that may."""
    changed: list[tuple[types.FunctionType, types.CodeType]] = []
    holders: list[dict[str, Any]] = []
    try:
        for function in _functions_of(model):
            code = _with_functions(function)
            if code is None:
                continue
            changed.append((function, function.__code__))
            if _HOOKS not in function.__globals__:
                holders.append(function.__globals__)
                function.__globals__[_HOOKS] = _Hooks
            function.__code__ = code
        yield bool(changed)
    finally:
        for function, before in changed:
            function.__code__ = before
        for known in holders:
            del known[_HOOKS]


def _functions_of(model: torch.nn.Module) -> list[types.FunctionType]:
    """Those of the modules of its classes, and the methods of classes that no module names."""
    kinds = {kind for each in model.modules() for kind in type(each).__mro__}
    own = [kind for kind in kinds if kind.__module__.partition(".")[0] not in ("torch", "sardonyx")]
    methods = [
        value
        for kind in own
        for value in vars(kind).values()
        if isinstance(value, types.FunctionType)
    ]
    return list({id(each): each for each in (*functions_of(model), *methods)}.values())


def _with_functions(function: types.FunctionType) -> types.CodeType | None:
    """The function's code with functions for its loops; None where it has no loop for one."""
    code = function.__code__
    own = tuple(sorted(_ITERATED & {*code.co_varnames, *code.co_freevars, *function.__globals__}))
    compiled = _compiled(code.co_filename, code.co_firstlineno, code.co_name, code.co_freevars, own)
    if compiled is None or (compiled.co_flags ^ code.co_flags) & _KINDS:
        return None
    return _named(compiled, code).replace(co_flags=code.co_flags)


def _named(made: types.CodeType, code: types.CodeType) -> types.CodeType:
    """Code with the names that messages show: bodies of loops are parts of their function."""
    is_own = made.co_name == code.co_name or made.co_name.startswith(_PREFIX)
    names = ("co_name", "co_qualname") if is_own else ()
    inner = tuple(
        _named(each, code) if isinstance(each, types.CodeType) else each for each in made.co_consts
    )
    same = {name: getattr(code, name) for name in names if hasattr(code, name)}
    return made.replace(co_consts=inner, **same)


@functools.lru_cache(maxsize=1024)
def _compiled(
    file: str, line: int, name: str, free: tuple[str, ...], own: tuple[str, ...]
) -> types.CodeType | None:
    """The code of the function at a line of a file. `free`: its variables of functions around it;
    `own`: names that are not Python's there."""
    found = _functions(file).get((line, name))
    if found is None or not any(isinstance(each, ast.For) for each in ast.walk(found)):
        return None
    if any(_is_mangled(each) for each in ast.walk(found)):
        return None
    function = copy.deepcopy(found)
    names = collected_names(function)
    for call in [call for each in names for call in joins_of(function, each)]:
        assert isinstance(call.func, ast.Attribute)
        call.func.value = ast.copy_location(ast.Name(_HOOKS, ast.Load()), call.func.value)
    loops = _Loops(frozenset(own), names)
    function.body = loops.block(function.body)
    if not loops.count:
        return None
    function.decorator_list, function.returns = [], None
    around = _function(f"{_PREFIX}around__", free, [function])
    module = ast.fix_missing_locations(ast.Module([around], []))
    outer = compile(module, file, "exec", dont_inherit=True)
    (maker,) = (each for each in outer.co_consts if isinstance(each, types.CodeType))
    code = next(
        each
        for each in maker.co_consts
        if isinstance(each, types.CodeType) and each.co_name == name
    )
    return code if code.co_freevars == free else None


@functools.lru_cache(maxsize=64)
def _functions(file: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """By their first lines, which may be a decorator's, and their names."""
    found = (node for node in ast.walk(parsed(file)) if isinstance(node, ast.FunctionDef))
    return {
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.name): node
        for node in found
    }


def _is_mangled(node: ast.AST) -> bool:
    """Whether the name means another one within a class."""
    name = getattr(node, "id", None) or getattr(node, "attr", None) or ""
    return isinstance(name, str) and name.startswith("__") and not name.endswith("__")


class _Loops:
    """Rewrites the loops of one function."""

    def __init__(self, own: frozenset[str], collected: frozenset[str]) -> None:
        self.count = 0
        self._own = own
        self._collected = collected

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with functions for their loops."""
        return [each for statement in statements for each in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        variables = None
        if isinstance(statement, ast.For) and self._may_be_function(statement):
            variables = _Variables.of(statement)
        for name in ("body", "orelse", "finalbody"):
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                break
            if inner := getattr(statement, name, None):
                setattr(statement, name, self.block(inner))
        if variables is None or not isinstance(statement, ast.For):
            return [statement]
        self.count += 1
        return self._as_function(statement, variables)

    def _may_be_function(self, loop: ast.For) -> bool:
        if loop.orelse or any(isinstance(each, _UNMOVABLE) for each in ast.walk(loop)):
            return False
        if any(isinstance(each, ast.Break) for each in _of_loop(loop)):
            return False
        if any(_is_attribute_set(each) for each in ast.walk(loop)):
            return False
        if not self._collects_at_once(loop):
            return False
        targets = ast.walk(loop.target)
        if not all(isinstance(each, (ast.Name, ast.Tuple, ast.expr_context)) for each in targets):
            return False
        return isinstance(loop.iter, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))

    def _collects_at_once(self, loop: ast.For) -> bool:
        """Whether each run of the body appends one element to the lists that it appends to, but for
        those that it makes."""
        names = [each.id for node in loop.body for each in ast.walk(node) if _is_name(each)]
        own = _stored(loop.body)
        calls = (appended(each) for each in loop.body)
        lists = [call[0].id for call in calls if call is not None]
        used = {name for name in names if name in self._collected - own}
        goes_on = any(isinstance(each, ast.Continue) for each in _of_loop(loop))
        return not (used and goes_on) and all(
            names.count(name) == lists.count(name) == 1 for name in used
        )

    def _as_function(self, loop: ast.For, variables: _Variables) -> list[ast.stmt]:
        """An if with both forms of the loop. The type of the elements chooses the form."""
        prefix = f"{_PREFIX}{self.count}"
        over, body, state, item = (f"{prefix}_{n}__" for n in ("over", "body", "state", "item"))
        elements = copy.deepcopy(loop.iter)
        for call in (elements, *getattr(elements, "args", ())):
            name = _called(call)
            if isinstance(call, ast.Call) and name in _ITERATED - self._own:
                call.func = _expression(f"{_HOOKS}.{name}")
        once = copy.deepcopy(loop)
        collected: dict[str, str] = {}
        own = _stored(loop.body)
        for place, each in enumerate(once.body):
            call = appended(each)
            if call is not None and call[0].id in self._collected - own:
                name, element = call[0].id, call[1]
                collected[name] = f"{prefix}_of_{name}__"
                target = ast.Name(collected[name], ast.Store())
                once.body[place] = ast.copy_location(ast.Assign([target], element), each)
        moved = _Continues().visited(once.body)
        function = _function(
            body,
            (item, *variables.carried),
            [
                *(each for n in variables.carried for each in _forgotten(n)),
                ast.Assign([once.target], ast.Name(item, ast.Load())),
                *moved,
                _statement("return locals()"),
            ],
        )
        assigned = [
            each
            for name in (*variables.carried, *collected)
            for each in (_statement(f"{name} = {state}[{name!r}]"), *_forgotten(name))
        ]
        # Those that each run of the body makes anew have no value that it could be read for.
        lost = [
            each
            for name in variables.lost
            for each in (_statement(f"{name} = None"), _statement(f"del {name}"))
        ]
        arguments = f"{over}, {body}, locals(), {variables.carried!r}, {collected!r}"
        called = f"{state} = {_HOOKS}.loop({arguments})"
        loop.iter = ast.Name(over, ast.Load())
        choice = ast.If(
            _expression(f"{_HOOKS}.is_dynamic({over})"),
            [function, _statement(called), *assigned, *lost],
            [loop],
        )
        made: list[ast.stmt] = [ast.Assign([ast.Name(over, ast.Store())], elements), choice]
        for each in made:
            _place_at(each, loop)
        return made


class _Continues(ast.NodeTransformer):
    """Has `continue` of a loop end the function with its body."""

    def visited(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [self.visit(each) for each in body]

    def visit_For(self, node: ast.For) -> ast.AST:
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return ast.copy_location(_statement("return locals()"), node)


@dataclass(frozen=True)
class _Variables:
    """What the body of a loop assigns: `carried` may be read before that, `lost` never is."""

    carried: tuple[str, ...]
    lost: tuple[str, ...]

    @staticmethod
    def of(loop: ast.For) -> _Variables:
        targets = _stored([loop.target])
        assigned = _stored(loop.body) - targets
        read: set[str] = set()
        lost: set[str] = set()
        for statement in loop.body:
            names = _stored([statement])
            read |= _read(statement) - lost
            if isinstance(statement, ast.Assign):
                lost |= names - read
            else:
                read |= names - lost
        lost &= assigned
        return _Variables(tuple(sorted(assigned - lost)), tuple(sorted(lost | targets)))


def _called(node: ast.AST) -> str | None:
    """The name of the function that an expression calls; None of others."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return None


def _is_attribute_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _stored(nodes: Sequence[ast.AST]) -> set[str]:
    names = (each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name))
    of_comprehensions = {
        id(each)
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.comprehension)
        for each in ast.walk(inner.target)
    }
    return {
        each.id
        for each in names
        if isinstance(each.ctx, ast.Store) and id(each) not in of_comprehensions
    }


def _read(node: ast.AST) -> set[str]:
    read = {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
    if isinstance(node, ast.AugAssign):
        read |= _stored([node])
    return read


def _of_loop(loop: ast.For) -> Iterator[ast.AST]:
    """The nodes of a body that are in no loop of their own."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.For, ast.While)):
            waiting += ast.iter_child_nodes(node)


def _function(name: str, parameters: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    made = _statement(f"def {name}({', '.join(parameters)}): pass")
    assert isinstance(made, ast.FunctionDef)
    made.body = body
    return made


def _forgotten(name: str) -> list[ast.stmt]:
    return [_statement(f"if {name} is {_HOOKS}.unset: del {name}")]


def _statement(text: str) -> ast.stmt:
    return _without_place(ast.parse(text)).body[0]


def _expression(text: str) -> ast.expr:
    statement = _statement(text)
    assert isinstance(statement, ast.Expr)
    return statement.value


def _without_place(module: ast.Module) -> ast.Module:
    """Nodes without a line. `_place_at` gives them the line of the loop."""
    for each in ast.walk(module):
        for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(each, name):
                delattr(each, name)
    return module


def _place_at(made: ast.AST, loop: ast.For) -> None:
    """Has what is new be in the line of the loop, and everything else where it was."""
    for each in ast.walk(made):
        if isinstance(each, (ast.stmt, ast.expr, ast.arg)) and not hasattr(each, "lineno"):
            ast.copy_location(each, loop)
