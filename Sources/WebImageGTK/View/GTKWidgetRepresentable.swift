// SPDX-License-Identifier: MIT

#if GTK
    /// A type that represents a widget of another Swift binding for GTK.
    ///
    /// Add a conformance to the widget class of the binding. All functions of this module that take a widget then
    /// accept its widgets:
    ///
    /// ```swift
    /// extension Widget: @retroactive GTKWidgetRepresentable {
    ///     public var gtkWidgetPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widgetPointer) }
    /// }
    /// ```
    @MainActor
    public protocol GTKWidgetRepresentable {
        /// The pointer to the GtkWidget.
        var gtkWidgetPointer: UnsafeMutableRawPointer { get }
    }
#endif
