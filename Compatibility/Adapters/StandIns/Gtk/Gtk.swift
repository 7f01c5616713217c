// SPDX-License-Identifier: MIT

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

#if GTK
    import CGTK4

    // SwiftGtk declares implicitly unwrapped pointers.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public protocol WidgetProtocol {
        var ptr: UnsafeMutableRawPointer! { get }
        init(raw: UnsafeMutableRawPointer)
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public struct WidgetRef: WidgetProtocol {
        public let ptr: UnsafeMutableRawPointer!
        public init(raw: UnsafeMutableRawPointer) { ptr = raw }
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open class Widget: WidgetProtocol {
        public let ptr: UnsafeMutableRawPointer!
        public required init(raw: UnsafeMutableRawPointer) { ptr = g_object_ref_sink(raw) }
    }

    open class Image: Widget {
        public convenience init() { self.init(raw: UnsafeMutableRawPointer(gtk_image_new())) }
    }
#endif
