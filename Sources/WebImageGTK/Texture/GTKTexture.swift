// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import Synchronization
    import WebImage
    import WebImageCore

    /// A GdkTexture that uses the memory of decoded pixels without copying it.
    ///
    /// All views of an image share one texture. The texture is attached to the image's pixels and is released with
    /// them, so a renderer uploads it only once. You can create, use, and release a texture on any thread.
    public final class GTKTexture: @unchecked Sendable {
        // Safe: a GdkTexture is immutable and its reference count is atomic. The flag is atomic, too.

        /// The GdkTexture, which is valid for the lifetime of this object.
        public let pointer: OpaquePointer
        /// The number of bytes that a renderer uploads.
        package let byteCount: Int
        private let drawn = Atomic<Bool>(false)
        private static let living = Atomic<Int>(0)
        private static let onMain = Atomic<Int>(0)

        /// The number of textures in the process.
        static var livingCount: Int { living.load(ordering: .relaxed) }
        /// The number of textures that were created on the main thread of the process.
        static var madeOnMainThread: Int { onMain.load(ordering: .relaxed) }

        private init(
            _ rows: UnsafeRawBufferPointer, owner: any AnyObject & Sendable, size: PixelSize, format: PixelFormat,
            bytesPerRow: Int
        ) {
            let bytes = g_bytes_new_with_free_func(
                rows.baseAddress, gsize(rows.count),
                { owner in
                    // GLib calls this function on the thread that releases the last reference.
                    if let owner { Unmanaged<AnyObject>.fromOpaque(owner).release() }
                }, Unmanaged<AnyObject>.passRetained(owner).toOpaque())
            let layout =
                switch format {
                case .rgba8: GDK_MEMORY_R8G8B8A8_PREMULTIPLIED
                case .rgba16: GDK_MEMORY_R16G16B16A16_PREMULTIPLIED
                }
            // The sides of a PixelSize fit because no canvas can have a side of 2^31 pixels.
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

        /// Returns the texture of `pixels`.
        ///
        /// The texture is created on the first call, which takes about a microsecond. For images from a manager that a
        /// view uses, the texture is created off the main thread as soon as the pixels are available.
        public static func texture(for pixels: PixelBuffer) -> GTKTexture {
            pixels.attachment { rows, owner in
                GTKTexture(
                    rows, owner: owner, size: pixels.size, format: pixels.format, bytesPerRow: pixels.bytesPerRow)
            }
        }

        /// Returns the texture of a still image or of the poster frame of an animation.
        public static func texture(for image: DecodedImage) -> GTKTexture { texture(for: image.pixels) }

        /// Makes `manager` create the textures of its future images off the main thread, so that views don't need to
        /// create them.
        static func makeAhead(_ manager: ImageManager) { manager.preparePixels { _ = GTKTexture.texture(for: $0) } }

        /// A Boolean value that indicates whether the texture was drawn and therefore uploaded.
        var wasDrawn: Bool {
            get { drawn.load(ordering: .relaxed) }
            set { drawn.store(newValue, ordering: .relaxed) }
        }
    }
#endif
