// SPDX-License-Identifier: MIT

// Clients need to import only `WebImage`.
@_exported import WebImageCodecs
@_exported import WebImageCore
@_exported import WebImageHTTP
@_exported import WebImageNet
@_exported import WebImageStore
