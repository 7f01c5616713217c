// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImagePrograms
    import XCTest

    @testable import WebImageGTK
    @testable import webimage_gallery

    /// Tests that copy, drag, and drop images of the gallery.
    final class ExchangeTests: XCTestCase {
        func testCopiedImageIsReadableAsImageTextAndURL() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "12", "--transition", "none")
                stage.waitForImages(atLeast: 4)
                let clipboard = gdk_display_get_clipboard(gdk_display_get_default())
                stage.window.grid.selected = 2
                XCTAssertTrue(stage.window.perform("copy"))
                Stand.pump("the copy") { gdk_clipboard_get_content(clipboard) != nil }
                let reader = try ClipboardReader()
                let texture = try reader.texture()
                XCTAssertEqual(
                    gdk_texture_get_width(texture), Int32(GalleryStage.dimension), "the copy has the full size")
                assertColor(Screenshot(texture).middle, GalleryStage.color(2))
                g_object_unref(UnsafeMutableRawPointer(texture))
                let address = stage.model.contents.visibleItems[2].url.absoluteString
                XCTAssertEqual(try reader.text(), address)
                XCTAssertEqual(String(decoding: try reader.bytes("text/uri-list"), as: UTF8.self), address + "\r\n")
                let png = try ImageCoderRegistry.standard.decode(
                    try reader.bytes("image/png"), options: ImageDecodingOptions(), context: ImageProcessingContext())
                assertColor(Screenshot(png.pixels).middle, GalleryStage.color(2))
                gdk_clipboard_set_content(clipboard, nil)
                stage.close()
            }
        }

        func testFilesAreCopiedAsFiles() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "12", "--transition", "none")
                stage.waitForImages(atLeast: 4)
                let clipboard = gdk_display_get_clipboard(gdk_display_get_default())
                let file = stage.directory.appending(path: "p5.png").absoluteString
                stage.window.add([file])
                stage.waitForFullImage()
                XCTAssertTrue(stage.window.perform("copy"))
                Stand.pump("the copy") { gdk_clipboard_get_content(clipboard) != nil }
                let reader = try ClipboardReader()
                let list = String(decoding: try reader.bytes("text/uri-list"), as: UTF8.self)
                XCTAssertEqual(list.trimmingCharacters(in: .newlines), file)
                XCTAssertEqual(try reader.text(), file)
                gdk_clipboard_set_content(clipboard, nil)
                stage.close()
            }
        }

        func testDragExportsAFittedImageAndMovesAZoomedOne() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "12", "--transition", "none")
                stage.waitForImages(atLeast: 4)
                stage.window.open(1)
                stage.waitForFullImage()
                stage.frame()
                let source = try Emission.controller(gtk_drag_source_get_type(), of: stage.window.full.widget)
                @MainActor func prepared() -> OpaquePointer? {
                    var answer = GValue()
                    g_value_init(&answer, gdk_content_provider_get_type())
                    Emission.emit(source, "prepare", 10, 10, returnValue: &answer)
                    defer { g_value_unset(&answer) }
                    guard let object = g_value_get_object(&answer) else { return nil }
                    let formats = gdk_content_provider_ref_formats(
                        object.assumingMemoryBound(to: GdkContentProvider.self))
                    defer { gdk_content_formats_unref(formats) }
                    XCTAssertNotEqual(gdk_content_formats_contain_gtype(formats, gdk_texture_get_type()), 0)
                    XCTAssertNotEqual(gdk_content_formats_contain_mime_type(formats, "text/uri-list"), 0)
                    return OpaquePointer(object)
                }
                XCTAssertNotNil(prepared())
                stage.window.full.area.change { $0.show(scale: 8, at: stage.window.full.area.middle) }
                stage.frame()
                XCTAssertNil(prepared())
                stage.close()
            }
        }

        func testURLDroppedAsTextIsAddedAndOpened() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "12")
                stage.waitForImages(atLeast: 4)
                let widget = UnsafeMutableRawPointer(stage.window.window).assumingMemoryBound(to: GtkWidget.self)
                let target = try Emission.controller(gtk_drop_target_get_type(), of: widget)
                @MainActor func drop(_ text: String) -> Bool {
                    var (value, answer) = (GValue(), GValue())
                    // The values of the macros G_TYPE_STRING and G_TYPE_BOOLEAN, which contain casts.
                    g_value_init(&value, GType(16 << 2))
                    g_value_init(&answer, GType(5 << 2))
                    g_value_set_string(&value, text)
                    Emission.emit(target, "drop", boxed: &value, 20, 20, returnValue: &answer)
                    g_value_unset(&value)
                    return g_value_get_boolean(&answer) != 0
                }
                let file = stage.directory.appending(path: "p7.png").absoluteString
                XCTAssertTrue(drop("# from a browser\r\n\(file)\r\n"))
                stage.waitForFullImage()
                XCTAssertEqual(stage.model.contents.items.count, 13)
                XCTAssertEqual(stage.window.full.item?.url.absoluteString, file)
                XCTAssertFalse(drop("# nothing but this"))
                // The user drops a link to the album's server.
                let address = stage.model.contents.items[3].url.absoluteString
                XCTAssertTrue(drop(address))
                Stand.pump("the image of the album") { stage.window.index == 3 && stage.window.full.image != nil }
                XCTAssertEqual(stage.model.contents.items.count, 13, "the URL already exists")
                stage.close()
            }
        }
    }
#endif
