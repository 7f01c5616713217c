// SPDX-License-Identifier: MIT

// Clients need to import only `WebImageTesting`.
@_exported import WebImageHTTPTesting
