// SPDX-License-Identifier: MIT

// Clients need to import only `WebImageGTK`.
@_exported import WebImageUI
