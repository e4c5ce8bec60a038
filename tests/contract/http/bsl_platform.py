"""As much of the 1C platform as the module of docs/1c touches, as strict as the platform where that is known.

A structure refuses a field it has not; a cut JSON object is read without complaint, as the platform reads it.
"""

# ruff: noqa: N802, PLC2401

from __future__ import annotations

import http.client
import json
import uuid
from typing import ClassVar

LINE_BREAK = "\r\n"


class PlatformError(Exception):
    """What code in the 1C language can catch."""


class Structure:
    """Структура: fields in their order; names do not depend on case."""

    def __init__(self, names="", *values):
        self.fields = {}
        for place, name in enumerate(part.strip() for part in names.split(",") if part.strip()):
            self.fields[name] = values[place] if place < len(values) else None

    def _name(self, name):
        return next((own for own in self.fields if own.lower() == name.lower()), None)

    def get(self, name):
        own = self._name(name)
        if own is None:
            raise PlatformError(f"Поле объекта не обнаружено ({name})")
        return self.fields[own]

    def set(self, name, value):
        own = self._name(name)
        if own is None:
            raise PlatformError(f"Поле объекта не обнаружено ({name})")
        self.fields[own] = value

    def Вставить(self, name, value=None):
        if not name.isidentifier():
            raise PlatformError(f"Задано недопустимое имя свойства ({name})")
        self.fields[self._name(name) or name] = value

    def Свойство(self, name):
        return self._name(name) is not None

    def __iter__(self):
        return iter([Structure("Ключ, Значение", *pair) for pair in self.fields.items()])


class Mapping(Structure):
    """Соответствие: any keys."""

    def Вставить(self, name, value=None):
        self.fields[name] = value


class Array:
    """Массив."""

    def __init__(self, items=()):
        self.items = list(items)

    def Добавить(self, value):
        self.items.append(value)

    def ВГраница(self):
        return len(self.items) - 1

    def Найти(self, value):
        return self.items.index(value) if value in self.items else None

    def at(self, place):
        if not 0 <= place < len(self.items):
            raise PlatformError("Значение индекса находится вне границ")
        return self.items[int(place)]

    def __iter__(self):
        return iter(self.items)


class JsonWriter:
    """ЗаписьJSON."""

    def УстановитьСтроку(self):
        self.text = ""

    def Закрыть(self):
        return self.text


class JsonReader:
    """ЧтениеJSON."""

    def УстановитьСтроку(self, text):
        self.text = text

    def Закрыть(self):
        return None


def write_json(writer, value):
    writer.text = written(value)


def written(value):
    """Line breaks without indent, Cyrillic as it is, controls but CR and LF as upper-case codes."""
    if isinstance(value, Structure):
        rows = [f"{written(name)}: {written(item)}" for name, item in value.fields.items()]
        return "{" + LINE_BREAK + f",{LINE_BREAK}".join(rows) + LINE_BREAK + "}"
    if isinstance(value, Array):
        return "[" + LINE_BREAK + f",{LINE_BREAK}".join(map(written, value.items)) + LINE_BREAK + "]"
    if isinstance(value, str):
        short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}
        coded = (short.get(sign) or (sign if ord(sign) > 31 else f"\\u{ord(sign):04X}") for sign in value)
        return '"' + "".join(coded) + '"'
    return {None: "null", True: "true", False: "false"}.get(value) or str(value)


def read_json(reader):
    return taken(lenient(reader.text))


def lenient(text):
    """The value of a text that may be cut short: what is open at its end is taken for closed."""
    if not text.lstrip().startswith(("{", "[")):
        raise PlatformError("Непредвиденный символ при чтении JSON")
    for end in range(len(text), 0, -1):
        for tail in ("", "}", "]}", "}]}", '"}', '"}]}'):
            try:
                return json.loads(text[:end].rstrip().rstrip(",") + tail)
            except json.JSONDecodeError:
                continue
    raise PlatformError("Непредвиденный символ при чтении JSON")


def taken(value):
    if isinstance(value, dict):
        found = Structure()
        for name, item in value.items():
            found.Вставить(name, taken(item))
        return found
    return Array(map(taken, value)) if isinstance(value, list) else value


class HttpRequest:
    """HTTPЗапрос."""

    def __init__(self, path):
        self.path, self.Заголовки, self.body = path, Mapping(), b""

    def УстановитьТелоИзСтроки(self, text, encoding, mark):
        assert (encoding, mark) == ("UTF8", "НеИспользовать")
        self.body = text.encode("utf-8")


class HttpAnswer:
    """HTTPОтвет."""

    def __init__(self, status, headers, body):
        self.КодСостояния, self.body = status, body
        self.Заголовки = Mapping()
        for name, value in headers:
            self.Заголовки.Вставить(name, value)

    def ПолучитьТелоКакСтроку(self, encoding):
        return self.body.decode(encoding)


class HttpConnection:
    """HTTPСоединение; ``tamper`` may change what came, or raise ``OSError`` for a line that broke."""

    sent: ClassVar[list[tuple[str, str, dict, bytes]]] = []
    tamper = staticmethod(lambda body: body)

    def __init__(self, host, port, _user=None, _password=None, _proxy=None, timeout=None, secure=None):
        if not timeout:
            raise AssertionError("a connection without timeout waits for ever")
        assert secure is None
        self.connection = http.client.HTTPConnection(host, int(port), timeout=timeout)

    def ВызватьHTTPМетод(self, method, request):
        self.sent.append((method, request.path, dict(request.Заголовки.fields), request.body))
        headers = {"User-Agent": "1C+Enterprise/8.3", "Accept": "*/*"} | request.Заголовки.fields
        try:
            self.connection.request(method, request.path, request.body or None, headers)
            response = self.connection.getresponse()
            body = self.tamper(response.read())
        except OSError as error:
            raise PlatformError(f"Ошибка работы с Интернет: {error}") from error
        finally:
            self.connection.close()
        return HttpAnswer(response.status, response.getheaders(), body)


def shown(value, _format=""):
    """Формат with the formats of the module: no grouping, no fraction."""
    return str(int(value))


TYPES = {"Структура": Structure, "Массив": Array, "Соответствие": Mapping}
TYPES |= {"HTTPЗапрос": HttpRequest, "HTTPСоединение": HttpConnection}
TYPES |= {"ЗаписьJSON": JsonWriter, "ЧтениеJSON": JsonReader, "УникальныйИдентификатор": uuid.uuid4}
KINDS = {"Структура": Structure, "Число": float, "Строка": str, "Массив": Array}
CONSTANTS = {
    "Символы": {"ПС": "\n"},
    "КодировкаТекста": {"UTF8": "UTF8"},
    "ИспользованиеByteOrderMark": {"НеИспользовать": "НеИспользовать"},
}


def kind(value):
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float
    return type(value)


FUNCTIONS = {
    "Формат": shown,
    "Макс": max,
    "Мин": min,
    "Лев": lambda text, count: text[:count],
    "Сред": lambda text, start: text[start - 1 :],
    "Символ": chr,
    "Строка": str,
    "Число": float,
    "НРег": str.lower,
    "ПустаяСтрока": lambda text: not text.strip(),
    "ТипЗнч": kind,
    "Тип": KINDS.__getitem__,
    "НомерСеансаИнформационнойБазы": lambda: 17,
    "ИнформацияОбОшибке": lambda: "сбой",
    "КраткоеПредставлениеОшибки": str,
    "ЗаписатьJSON": write_json,
    "ПрочитатьJSON": read_json,
}
