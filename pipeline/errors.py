"""Errors that a person may see, each with a code, a message and a hint in Russian and English.

::

    OtvetError
    ├── RequestError             the caller can mend it
    │   ├── EmptyQuestionError   nothing is left once flags are read
    │   ├── QuestionTooLongError
    │   ├── InvalidRequestError  a field has a wrong type or value
    │   ├── MalformedBodyError   the body is not JSON in a known encoding
    │   ├── MalformedHttpError   the request is no HTTP
    │   ├── UnsupportedMediaTypeError
    │   ├── BodyTooLargeError
    │   ├── ForbiddenHostError   Host is not this machine
    │   ├── ForbiddenOriginError a page of another site asks
    │   ├── NotFoundError        no such address or passage
    │   │   ├── JobNotFoundError no such background question any more
    │   │   │   └── BatchNotFoundError  no such batch of texts any more
    │   │   ├── MapMissingError  the map of the knowledge base has not been drawn
    │   │   ├── DraftUnknownError        no such draft of a question
    │   │   └── DatabaseUnknownError     sources.toml declares no such database
    │   ├── FileNameError        no file of the knowledge base may have this name
    │   ├── FileTakenError       there is a file of this name already
    │   ├── TokenRequiredError   off this machine the server wants its token
    │   ├── KeyConflictError     an idempotency key was used with another body
    │   ├── StatementRefusedError    SQL that is not one harmless SELECT over allowed tables
    │   ├── StatementFailedError     the database cannot run the statement
    │   │   ├── StatementSlowError   stopped at its time limit
    │   │   └── StatementCostlyError the database expects too much work
    │   └── MethodNotAllowedError
    ├── BusyError                the queue is full; try again later
    ├── NotReadyError            models or index are still loading
    ├── CancelledError           the client left or withdrew the request
    ├── SettingsError            a setting is unknown or has a wrong value
    ├── IndexUnusableError       the index cannot be used
    │   ├── IndexMissingError
    │   ├── IndexDamagedError
    │   ├── IndexMismatchError   made by another embedder, prefix scheme or format
    │   ├── IndexLockedError     another process is indexing
    │   ├── IndexNotWrittenError no room on the disk, or a folder that may not be written to
    │   ├── StoreUnreachableError   the server that keeps the index does not answer
    │   ├── StoreNotWrittenError    a store could not be brought up to date
    │   ├── StoreStaleError         a store holds another version than the JSON files
    │   └── KnowledgeBaseMissingError  the folder of documents of an index is gone
    ├── DatabaseUnusableError    a declared database cannot be opened or read
    │   └── DatabaseWritableError    its user may write
    ├── UnreadableFileError      one file of the knowledge base cannot be read
    ├── QuestionsFileError       a file of questions, or some of its lines, cannot be used
    ├── RunMissingError          there is no such run of otvet eval
    ├── RunOutdatedError         the index was renewed during a run of otvet eval
    ├── RunTakenError            a run of otvet eval cannot have this name
    ├── QualityError             an evaluation is below a bar, or worse than another one
    ├── ModelError
    │   ├── ModelMissingError
    │   ├── ModelDamagedError    size or SHA-256 differs
    │   │   └── DownloadDamagedError  what was fetched is not what the catalogue names
    │   ├── ModelUnknownError    no such name in the catalogue
    │   ├── ConsentRequiredError a licence restricts use
    │   ├── NoSpaceError         the disk is too full
    │   └── DownloadError
    │       ├── PipMissingError  this Python has no pip
    │       └── HubError         the model hub cannot be used
    ├── GeneratorMissingError    this profile has no language model, and no other way will do
    ├── ExtraMissingError        an optional package is not installed
    ├── TextTooLongError         longer than the embedder's limit
    ├── NotWrittenError          no room on the disk, or a folder that may not be written to
    ├── PromptTooLongError       the prompt leaves no room for an answer
    ├── AddressUnusableError     the server cannot listen where it should
    ├── RemoteError              a server of remote.…_url
    │   ├── RemoteUnreachableError  none answers
    │   ├── RemoteRefusedError   it answers with an error
    │   └── RemoteBrokenError    it answers what it should not
    └── GeneratorError           the engine failed
"""

from __future__ import annotations

from typing import Self

from pipeline.messages import Phrase, text
from pipeline.types import Language

__all__ = [
    "AddressUnusableError",
    "BatchNotFoundError",
    "BodyTooLargeError",
    "BusyError",
    "CancelledError",
    "ConsentRequiredError",
    "DatabaseUnknownError",
    "DatabaseUnusableError",
    "DatabaseWritableError",
    "DownloadDamagedError",
    "DownloadError",
    "DraftUnknownError",
    "EmptyQuestionError",
    "ExtraMissingError",
    "FileNameError",
    "FileTakenError",
    "ForbiddenHostError",
    "ForbiddenOriginError",
    "GeneratorError",
    "GeneratorMissingError",
    "HubError",
    "IndexDamagedError",
    "IndexLockedError",
    "IndexMismatchError",
    "IndexMissingError",
    "IndexNotWrittenError",
    "IndexUnusableError",
    "InvalidRequestError",
    "JobNotFoundError",
    "KeyConflictError",
    "KnowledgeBaseMissingError",
    "MalformedBodyError",
    "MalformedHttpError",
    "MapMissingError",
    "MethodNotAllowedError",
    "ModelDamagedError",
    "ModelError",
    "ModelMissingError",
    "ModelUnknownError",
    "NoSpaceError",
    "NotFoundError",
    "NotReadyError",
    "NotWrittenError",
    "OtvetError",
    "PipMissingError",
    "PromptTooLongError",
    "QualityError",
    "QuestionTooLongError",
    "QuestionsFileError",
    "RemoteBrokenError",
    "RemoteError",
    "RemoteRefusedError",
    "RemoteUnreachableError",
    "RequestError",
    "RunMissingError",
    "RunOutdatedError",
    "RunTakenError",
    "SettingsError",
    "StatementCostlyError",
    "StatementFailedError",
    "StatementRefusedError",
    "StatementSlowError",
    "StoreNotWrittenError",
    "StoreStaleError",
    "StoreUnreachableError",
    "TextTooLongError",
    "TokenRequiredError",
    "UnreadableFileError",
    "UnsupportedMediaTypeError",
]


class OtvetError(Exception):
    """Base of all errors shown to people; ``code`` names the entry in ``messages/errors.toml``.

    Args:
        values: Fill the placeholders of message and hint; a ``Phrase`` follows the language.
    """

    code = "internal"

    def __init__(self, **values: object) -> None:
        super().__init__(self.code)
        self.values = values

    def message(self, language: Language = "en") -> str:
        """What went wrong."""
        return text("errors", self.code, language, "", **self._words(language))

    def hint(self, language: Language = "en") -> str:
        """What to do next."""
        return text("errors", self.code, language, "_hint", **self._words(language))

    def _words(self, language: Language) -> dict[str, object]:
        return {
            name: value.text(language) if isinstance(value, Phrase) else value
            for name, value in self.values.items()
        }

    def again(self) -> Self:
        """A fresh copy to raise.

        An error that is kept gets a longer traceback each time it is raised, and one object must not be
        raised in several threads.
        """
        copy = type(self)(**self.values)
        copy.__cause__ = self.__cause__
        return copy

    def __str__(self) -> str:
        return f"{self.message()} {self.hint()}"


class RequestError(OtvetError):
    """The caller can mend it."""

    code = "invalid_request"


class EmptyQuestionError(RequestError):
    """Nothing is left of the question once its flags are read."""

    code = "empty_question"


class QuestionTooLongError(RequestError):
    """Values: ``length``, ``limit`` in characters."""

    code = "question_too_long"


class InvalidRequestError(RequestError):
    """Values: ``field``, ``reason``."""

    code = "invalid_request"


class MalformedBodyError(RequestError):
    """Values: ``reason``."""

    code = "malformed_body"


class MalformedHttpError(RequestError):
    """No values."""

    code = "malformed_http"


class UnsupportedMediaTypeError(RequestError):
    """Values: ``media_type``."""

    code = "unsupported_media_type"


class BodyTooLargeError(RequestError):
    """Values: ``limit`` in bytes."""

    code = "body_too_large"


class ForbiddenHostError(RequestError):
    """Values: ``host``."""

    code = "forbidden_host"


class ForbiddenOriginError(RequestError):
    """Values: ``origin``."""

    code = "forbidden_origin"


class NotFoundError(RequestError):
    """Values: ``what``."""

    code = "not_found"


class JobNotFoundError(NotFoundError):
    """Values: ``what``, ``minutes`` for which a finished one is kept."""

    code = "job_not_found"


class BatchNotFoundError(JobNotFoundError):
    """Values: ``what``, ``minutes`` for which a finished one is kept."""

    code = "batch_not_found"


class MapMissingError(NotFoundError):
    """Values: ``path``."""

    code = "map_missing"


class FileNameError(RequestError):
    """Values: ``file``, ``reason``."""

    code = "file_name"


class FileTakenError(RequestError):
    """Values: ``file``."""

    code = "file_taken"


class TokenRequiredError(RequestError):
    """No values."""

    code = "token_required"


class KeyConflictError(RequestError):
    """Values: ``name``, the key."""

    code = "idempotency_conflict"


class DraftUnknownError(NotFoundError):
    """Values: ``what``."""

    code = "draft_not_found"


class DatabaseUnknownError(NotFoundError):
    """Values: ``what``, ``known``."""

    code = "database_unknown"


class StatementRefusedError(RequestError):
    """Values: ``reason``, a ``Phrase``."""

    code = "statement_refused"


class StatementFailedError(RequestError):
    """Values: ``reason``, the database's own words."""

    code = "statement_failed"


class StatementSlowError(StatementFailedError):
    """Values: ``seconds``, the limit."""

    code = "statement_slow"


class StatementCostlyError(StatementFailedError):
    """Values: ``cost`` that is expected, ``limit``."""

    code = "statement_costly"


class DatabaseUnusableError(OtvetError):
    """Values: ``name``, ``reason``."""

    code = "database_unusable"


class DatabaseWritableError(DatabaseUnusableError):
    """Values: ``name``, ``user``, ``tables`` it may change."""

    code = "database_writable"


class MethodNotAllowedError(RequestError):
    """Values: ``method``, ``allowed``."""

    code = "method_not_allowed"


class BusyError(OtvetError):
    """Values: ``waiting`` requests in the queue, ``retry_after_s``."""

    code = "busy"


class NotReadyError(OtvetError):
    """Values: ``what`` is still loading."""

    code = "not_ready"


class CancelledError(OtvetError):
    """The client left or withdrew the request."""

    code = "cancelled"


class SettingsError(OtvetError):
    """Values: ``where``, ``reason``."""

    code = "settings"


class IndexUnusableError(OtvetError):
    """Values: ``reason``."""

    code = "index_unusable"


class IndexMissingError(IndexUnusableError):
    """Values: ``path``."""

    code = "index_missing"


class IndexDamagedError(IndexUnusableError):
    """Values: ``path``, ``reason``."""

    code = "index_damaged"


class IndexMismatchError(IndexUnusableError):
    """Values: ``what``, ``found``, ``expected``."""

    code = "index_mismatch"


class IndexLockedError(IndexUnusableError):
    """Values: ``path``, ``pid``."""

    code = "index_locked"


class IndexNotWrittenError(IndexUnusableError):
    """Values: ``path``, ``reason``."""

    code = "index_not_written"


class KnowledgeBaseMissingError(IndexUnusableError):
    """Values: ``path``, ``files`` that the index holds."""

    code = "knowledge_base_missing"


class StoreUnreachableError(IndexUnusableError):
    """Values: ``store``, ``address`` without user and password, ``reason``."""

    code = "store_unreachable"


class StoreNotWrittenError(IndexUnusableError):
    """Values: ``store``, ``reason``."""

    code = "store_not_written"


class StoreStaleError(IndexUnusableError):
    """Told, not raised: it can be searched. Values: ``store``, ``found`` and ``expected`` versions."""

    code = "store_stale"


class UnreadableFileError(OtvetError):
    """Values: ``file``, ``reason``."""

    code = "unreadable_file"


class ModelError(OtvetError):
    """Values: ``reason``."""

    code = "model"


class ModelMissingError(ModelError):
    """Values: ``model``."""

    code = "model_missing"


class ModelDamagedError(ModelError):
    """Values: ``path``, ``reason``."""

    code = "model_damaged"


class DownloadDamagedError(ModelDamagedError):
    """Values: ``path``, ``reason``."""

    code = "download_damaged"


class NoSpaceError(ModelError):
    """Values: ``path``, ``needed`` and ``free`` in megabytes."""

    code = "no_space"


class ModelUnknownError(ModelError):
    """Values: ``model``, ``known``."""

    code = "model_unknown"


class ConsentRequiredError(ModelError):
    """Values: ``model``, ``license``."""

    code = "consent_required"


class DownloadError(ModelError):
    """Values: ``what``, ``reason``."""

    code = "download"


class PipMissingError(DownloadError):
    """Values: ``what``, ``python``."""

    code = "pip_missing"


class HubError(DownloadError):
    """Values: ``what``, ``reason``."""

    code = "hub"


class GeneratorMissingError(OtvetError):
    """Values: none."""

    code = "generator_missing"


class ExtraMissingError(OtvetError):
    """Values: ``package``, ``extra``."""

    code = "extra_missing"


class TextTooLongError(OtvetError):
    """Values: ``tokens``, ``limit``."""

    code = "text_too_long"


class NotWrittenError(OtvetError):
    """Values: ``path``, ``reason``."""

    code = "not_written"


class PromptTooLongError(OtvetError):
    """Values: ``tokens``, ``limit``."""

    code = "prompt_too_long"


class GeneratorError(OtvetError):
    """Values: ``reason``."""

    code = "generator"


class AddressUnusableError(OtvetError):
    """Values: ``address``, ``reason``."""

    code = "address_unusable"


class QuestionsFileError(OtvetError):
    """Values: ``path``, ``lines``: pairs of a line's number (0: the file) and what is wrong, a ``Phrase``."""

    code = "questions_file"

    def _words(self, language: Language) -> dict[str, object]:
        lines = self.values.get("lines")
        said = [
            f"  {number}: {why.text(language)}" if number else f"  {why.text(language)}"
            for number, why in (lines if isinstance(lines, list) else [])
        ]
        return {**self.values, "lines": "\n".join(said)}


class RunMissingError(OtvetError):
    """Values: ``name``, ``known``."""

    code = "eval_run_missing"


class RunOutdatedError(OtvetError):
    """The index was renewed while its questions were asked."""

    code = "eval_run_outdated"


class RunTakenError(OtvetError):
    """Values: ``name``."""

    code = "eval_run_taken"


class QualityError(OtvetError):
    """Values: ``lines``: what is below its bar or worse than before, one a line."""

    code = "eval_quality"


class RemoteError(OtvetError):
    """Values: ``url``, ``reason``."""

    code = "remote"


class RemoteUnreachableError(RemoteError):
    """Values: ``url``, ``reason``."""

    code = "remote_unreachable"


class RemoteRefusedError(RemoteError):
    """Values: ``url``, ``http`` (status), ``reason``."""

    code = "remote_refused"


class RemoteBrokenError(RemoteError):
    """Values: ``url``, ``reason``."""

    code = "remote_broken"
