// SPDX-License-Identifier: MIT

#if GTK
    /// A widget of another Swift binding of GTK. Adopt it for the binding's own class, and every function of this module that
    /// takes a widget takes that one:
    ///
    /// ```swift
    /// extension Widget: @retroactive GTKWidgetRepresentable {
    ///     public var gtkWidgetPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widgetPointer) }
    /// }
    /// ```
    @MainActor
    public protocol GTKWidgetRepresentable {
        /// The GtkWidget.
        var gtkWidgetPointer: UnsafeMutableRawPointer { get }
    }
#endif
