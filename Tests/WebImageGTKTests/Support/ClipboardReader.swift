// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import XCTest

    /// Reads the clipboard like another program.
    @MainActor
    struct ClipboardReader {
        private let clipboard: OpaquePointer

        init() throws { clipboard = try XCTUnwrap(gdk_display_get_clipboard(gdk_display_get_default())) }

        /// Returns the image of the clipboard. The caller must release it.
        func texture() throws -> OpaquePointer {
            let result = try self.result { gdk_clipboard_read_texture_async(clipboard, nil, $0, $1) }
            defer { g_object_unref(UnsafeMutableRawPointer(result)) }
            return try XCTUnwrap(gdk_clipboard_read_texture_finish(clipboard, result, nil))
        }

        func text() throws -> String {
            let result = try self.result { gdk_clipboard_read_text_async(clipboard, nil, $0, $1) }
            defer { g_object_unref(UnsafeMutableRawPointer(result)) }
            let text = try XCTUnwrap(gdk_clipboard_read_text_finish(clipboard, result, nil))
            defer { g_free(text) }
            return String(cString: text)
        }

        /// Returns the data that the clipboard offers for a media type.
        func bytes(_ type: String) throws -> Data {
            let name = strdup(type)
            defer { free(name) }
            var types = [name.map { UnsafePointer($0) }, nil]
            let result = try self.result {
                gdk_clipboard_read_async(clipboard, &types, G_PRIORITY_DEFAULT, nil, $0, $1)
            }
            defer { g_object_unref(UnsafeMutableRawPointer(result)) }
            let stream = try XCTUnwrap(gdk_clipboard_read_finish(clipboard, result, nil, nil))
            defer { g_object_unref(UnsafeMutableRawPointer(stream)) }
            var data = Data()
            while true {
                let result = try self.result {
                    g_input_stream_read_bytes_async(stream, 65_536, G_PRIORITY_DEFAULT, nil, $0, $1)
                }
                defer { g_object_unref(UnsafeMutableRawPointer(result)) }
                let bytes = try XCTUnwrap(g_input_stream_read_bytes_finish(stream, result, nil))
                defer { g_bytes_unref(bytes) }
                var count: gsize = 0
                guard let start = g_bytes_get_data(bytes, &count), count > 0 else { return data }
                data.append(Data(bytes: start, count: Int(count)))
            }
        }

        /// Runs the main loop until the operation that `begin` starts has finished.
        private func result(_ begin: (GAsyncReadyCallback, gpointer) -> Void) throws -> OpaquePointer {
            var result: OpaquePointer?
            withUnsafeMutablePointer(to: &result) { place in
                begin(
                    { _, result, data in
                        if let result { g_object_ref(UnsafeMutableRawPointer(result)) }
                        data?.assumingMemoryBound(to: OpaquePointer?.self).pointee = result
                    }, place)
                Stand.pump("the clipboard") { place.pointee != nil }
            }
            return try XCTUnwrap(result)
        }
    }
#endif
