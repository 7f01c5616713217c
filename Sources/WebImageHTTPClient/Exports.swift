// SPDX-License-Identifier: MIT

// `import WebImageHTTPClient` makes the public API of all WebImage modules below it available.
@_exported import WebImageCore
@_exported import WebImageHTTP
@_exported import WebImageNet
@_exported import WebImageStore
