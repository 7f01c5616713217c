// SPDX-License-Identifier: MIT

#if GTK
    /// A limit for the texture uploads within one frame. If many images arrive at the same time, they appear over
    /// several frames instead of delaying one. The first upload of a frame is always admitted, regardless of its size.
    @MainActor
    final class UploadBudget {
        static let shared = UploadBudget()

        var bytesPerFrame = 8 << 20
        private var frame = Int.min
        private var spent = 0

        /// Returns whether `texture` may be drawn in the frame with the time `now`.
        func admits(_ texture: GTKTexture, at now: Int) -> Bool {
            if texture.wasDrawn { return true }
            if now != frame {
                frame = now
                spent = 0
            }
            guard spent == 0 || spent + texture.byteCount <= bytesPerFrame else { return false }
            spent += texture.byteCount
            texture.wasDrawn = true
            return true
        }
    }
#endif
