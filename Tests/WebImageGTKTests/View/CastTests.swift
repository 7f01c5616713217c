// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import WebImageGTK

    final class CastTests: XCTestCase {
        func testPointersToInstancesAreCastToTheirClasses() throws {
            try Stand.run {
                let widget: UnsafeMutablePointer<GtkWidget> = gtk_button_new()
                defer { g_object_unref(g_object_ref_sink(widget)) }
                let button = gtkCast(widget, to: GtkButton.self)
                XCTAssertEqual(UnsafeMutableRawPointer(button), UnsafeMutableRawPointer(widget))
                gtk_button_set_label(gtkCast(widget), "Label")
                XCTAssertEqual(gtk_button_get_label(button).map { String(cString: $0) }, "Label")
                let other: UnsafeMutablePointer<GtkWidget> = gtkCast(OpaquePointer(widget))
                XCTAssertEqual(other, widget)
                XCTAssertEqual(gtkCast(button, to: GObject.self).pointee.ref_count, 1)
            }
        }

        func testOnlyClassesOfTheObjectContainIt() throws {
            try Stand.run {
                let widget: UnsafeMutablePointer<GtkWidget> = gtk_toggle_button_new()
                defer { g_object_unref(g_object_ref_sink(widget)) }
                XCTAssertEqual(GTKClass.name(of: GtkToggleButton.self), "GtkToggleButton")
                XCTAssertTrue(GTKClass.contains(widget, GtkToggleButton.self))
                XCTAssertTrue(GTKClass.contains(widget, GtkButton.self))
                XCTAssertTrue(GTKClass.contains(widget, GtkWidget.self))
                XCTAssertTrue(GTKClass.contains(widget, GObject.self))
                XCTAssertFalse(GTKClass.contains(widget, GtkWindow.self))
                XCTAssertFalse(GTKClass.contains(widget, GtkBox.self))
                XCTAssertFalse(GTKClass.contains(widget, Int.self))
            }
        }
    }
#endif
