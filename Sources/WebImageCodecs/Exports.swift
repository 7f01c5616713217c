// SPDX-License-Identifier: MIT

// Programs that decode, transform, or encode images without loading them need to import only `WebImageCodecs`.
@_exported import WebImageCore
