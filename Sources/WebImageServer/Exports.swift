// SPDX-License-Identifier: MIT

// Clients need to import only `WebImageServer`.
@_exported import WebImage
