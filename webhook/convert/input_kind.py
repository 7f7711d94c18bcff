"""The kinds of inputs that can be converted."""

import enum


class InputKind(enum.StrEnum):
    """The kinds of inputs, as the command line names them."""

    SPL = "spl"
    ADL = "adl"
    SAB = "sab"
    OVERLAY = "overlay"
    TWISTER2 = "twister2"
    EMCO = "emco"
