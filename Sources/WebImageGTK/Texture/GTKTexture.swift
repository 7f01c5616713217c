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

        static var livingCount: Int { living.load(ordering: .relaxed) }
        /// The number of textures that were created on the main thread of the process.
        static var madeOnMainThread: Int { onMain.load(ordering: .relaxed) }

        /// The function that finds the functions of GTK 4.16 by name, for tests. `nil` means those of the process.
        typealias SymbolLookup = @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutableRawPointer?

        /// A Boolean value that indicates whether GTK converts textures in Display P3 for the monitor, which requires
        /// GTK 4.16.
        public static let supportsDisplayP3 = supports(.displayP3, lookup: nil)

        /// A Boolean value that indicates whether GTK converts textures in PQ for the monitor, which requires GTK 4.16.
        public static let supportsHighDynamicRange = supports(.pq, lookup: nil)

        static func supports(_ color: ColorCodePoints, lookup: SymbolLookup?) -> Bool {
            wi_gtk_has_color_state(numbers(color), lookup)
        }

        private static func numbers(_ color: ColorCodePoints) -> wi_gtk_color {
            wi_gtk_color(primaries: UInt32(clamping: color.primaries), transfer: UInt32(clamping: color.transfer))
        }

        private init(
            _ rows: UnsafeRawBufferPointer, owner: any AnyObject & Sendable, size: PixelSize, format: PixelFormat,
            bytesPerRow: Int, color: ColorCodePoints?, lookup: SymbolLookup?
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
            var parts = wi_gtk_pixels(
                bytes: bytes.map { UnsafeMutableRawPointer($0) }, width: Int32(clamping: size.width),
                height: Int32(clamping: size.height), stride: bytesPerRow, format: Int32(layout.rawValue))
            // Older versions of GTK have no color states, so the samples appear as sRGB.
            let tagged = color.flatMap { wi_gtk_colored_texture(&parts, Self.numbers($0), lookup) }
            if let tagged {
                pointer = OpaquePointer(tagged)
            } else {
                pointer = gdk_memory_texture_new(parts.width, parts.height, layout, bytes, gsize(bytesPerRow))
            }
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
        public static func texture(for pixels: PixelBuffer) -> GTKTexture { texture(for: pixels, color: nil) }

        /// Returns the texture of pixels in a color space, of which the first call for the pixels decides. `nil` means sRGB.
        ///
        /// From GTK 4.16 on, pixels in Display P3, PQ, and HLG have the color state of their code points, so GTK converts
        /// them for the monitor. The tests check the calls with functions of their own, because the oldest supported GTK
        /// doesn't have them.
        static func texture(
            for pixels: PixelBuffer, color: ColorCodePoints?, lookup: SymbolLookup? = nil
        ) -> GTKTexture {
            pixels.attachment { rows, owner in
                GTKTexture(
                    rows, owner: owner, size: pixels.size, format: pixels.format, bytesPerRow: pixels.bytesPerRow,
                    color: color, lookup: lookup)
            }
        }

        /// Returns the texture of a still image or of the poster frame of an animation.
        public static func texture(for image: DecodedImage) -> GTKTexture {
            texture(for: image.pixels, color: image.displayedCodePoints)
        }

        /// Makes `manager` create the textures of its future images off the main thread, so that views don't need to
        /// create them.
        static func makeAhead(_ manager: ImageManager) {
            manager.preparePixels { _ = GTKTexture.texture(for: $0, color: $1) }
        }

        /// Whether the texture was drawn and therefore uploaded.
        var wasDrawn: Bool {
            get { drawn.load(ordering: .relaxed) }
            set { drawn.store(newValue, ordering: .relaxed) }
        }
    }
#endif
