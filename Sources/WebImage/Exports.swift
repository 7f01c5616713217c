// SPDX-License-Identifier: MIT

// What users import is `WebImage` alone.
@_exported import WebImageCodecs
@_exported import WebImageCore
@_exported import WebImageHTTP
@_exported import WebImageNet
@_exported import WebImageStore
