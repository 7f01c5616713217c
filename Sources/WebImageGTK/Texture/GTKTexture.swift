// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import Synchronization
    import WebImage
    import WebImageCore

    /// A GdkTexture over the very memory of decoded pixels: nothing is copied. All who show a picture share one texture,
    /// which lies beside the picture's pixels and goes with them, so that a renderer uploads it once. May be made, used and
    /// released on any thread.
    public final class GTKTexture: @unchecked Sendable {
        // Sendable: a GdkTexture is immutable and its reference count atomic; the flag is atomic too.

        /// The GdkTexture, valid as long as this object.
        public let pointer: OpaquePointer
        /// Bytes that a renderer uploads.
        public let byteCount: Int
        private let drawn = Atomic<Bool>(false)
        private static let living = Atomic<Int>(0)
        private static let onMain = Atomic<Int>(0)

        /// Textures of the process that have not gone yet.
        static var livingCount: Int { living.load(ordering: .relaxed) }
        /// Textures that were made on the process's main thread.
        static var madeOnMainThread: Int { onMain.load(ordering: .relaxed) }

        private init(
            _ rows: UnsafeRawBufferPointer, owner: any AnyObject & Sendable, size: PixelSize, format: PixelFormat,
            bytesPerRow: Int
        ) {
            let bytes = g_bytes_new_with_free_func(
                rows.baseAddress, gsize(rows.count),
                { owner in
                    // Called on the thread that lets go last.
                    if let owner { Unmanaged<AnyObject>.fromOpaque(owner).release() }
                }, Unmanaged<AnyObject>.passRetained(owner).toOpaque())
            let layout =
                switch format {
                case .rgba8: GDK_MEMORY_R8G8B8A8_PREMULTIPLIED
                case .rgba16: GDK_MEMORY_R16G16B16A16_PREMULTIPLIED
                }
            // Sides of a PixelSize fit: a canvas of 2^31 pixels a side cannot be made.
            pointer = gdk_memory_texture_new(
                Int32(clamping: size.width), Int32(clamping: size.height), layout, bytes, gsize(bytesPerRow))
            byteCount = rows.count
            g_bytes_unref(bytes)
            Self.living.wrappingAdd(1, ordering: .relaxed)
            if wi_gtk_is_process_main_thread() { Self.onMain.wrappingAdd(1, ordering: .relaxed) }
        }

        deinit {
            g_object_unref(UnsafeMutableRawPointer(pointer))
            Self.living.wrappingSubtract(1, ordering: .relaxed)
        }

        /// The texture of `pixels`, made when it is first asked for; about a microsecond. For what a view's manager makes that is
        /// as soon as the pixels are there, off the main thread.
        public static func of(_ pixels: PixelBuffer) -> GTKTexture {
            pixels.attachment { rows, owner in
                GTKTexture(
                    rows, owner: owner, size: pixels.size, format: pixels.format, bytesPerRow: pixels.bytesPerRow)
            }
        }

        /// The texture of a still, or of an animation's poster.
        public static func of(_ image: Image) -> GTKTexture { of(image.pixels) }

        /// Has the textures of all that `manager` makes from now on made off the main thread, so that a view has only to set
        /// them.
        static func makeAhead(_ manager: ImageManager) { manager.preparePixels { _ = GTKTexture.of($0) } }

        /// Whether it has been drawn, and so uploaded.
        var wasDrawn: Bool {
            get { drawn.load(ordering: .relaxed) }
            set { drawn.store(newValue, ordering: .relaxed) }
        }
    }
#endif
