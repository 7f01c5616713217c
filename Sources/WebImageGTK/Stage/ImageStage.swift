// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCore

    /// Whom a stage belongs to.
    @MainActor
    protocol ImageStageHost: AnyObject {
        /// The time of the frame that is being made, in nanoseconds.
        var frameTime: Int { get }
        /// What a text in the view would be drawn with.
        var foreground: PixelColor { get }
        /// What is drawn has changed, and how much room it wants, or only the former.
        func stageChanged(_ stage: ImageStage, size: Bool)
        /// ``ImageStage/advance(to:)`` is to be called.
        func stageNeedsTick(_ stage: ImageStage)
        /// What is shown has been drawn, or its transition is over; told while it is drawn.
        func stageReached(_ stage: ImageStage)
        /// The stage is about to be drawn with this size in points.
        func stage(_ stage: ImageStage, hasPlace width: Double, _ height: Double)
    }

    /// What is drawn in one slot of a view: the picture, the one that it takes the place of, and the indicator. Time comes
    /// from outside.
    @MainActor
    final class ImageStage {
        weak var host: (any ImageStageHost)?
        let slot: ImageSlot
        let manager: ImageManager

        var fit = ContentFit.contain { didSet { if fit != oldValue { changed() } } }
        /// Points.
        var cornerRadius = 0.0 { didSet { if cornerRadius != oldValue { changed() } } }
        var indicator = ImageIndicator.none { didSet { changed() } }
        /// How animations are played, from the next picture on.
        var playback = PlaybackOptions()
        /// Whether animations begin by themselves, from the next picture on.
        var autoplays = true
        /// Device pixels per point.
        var scaleFactor = 1.0 { didSet { if scaleFactor != oldValue { changed(size: true) } } }
        /// Whether the stage can be seen.
        var isVisible = false { didSet { player?.isVisible = isVisible } }
        /// Whether things may move.
        var animates = true {
            didSet {
                player?.reducesMotion = playback.reducesMotion || !animates
                if !animates { endTransition() }
                changed()
            }
        }
        /// How far the load is that runs; nil when none does.
        var load: LoadSigns? { didSet { if load != oldValue { changed() } } }

        private(set) var current: StageLayer?
        private(set) var outgoing: StageLayer?
        private(set) var player: AnimationPlayer?
        private(set) var transition: RunningTransition?
        /// Whether what is to be shown waits for its upload.
        private(set) var isWaiting = false
        /// How far what is to be shown has come.
        private(set) var reached = LoadGoal.loaded
        /// Whether it is being drawn: widgets are not to change meanwhile.
        private(set) var isDrawing = false
        private var toldSize: (width: Double, height: Double)?

        init(slot: ImageSlot, manager: ImageManager) {
            self.slot = slot
            self.manager = manager
        }

        // MARK: - What is shown

        /// Shows `presentation` instead of what is shown.
        func present(_ presentation: Presentation) {
            let next = StageLayer(presentation)
            // What was drawn last stays until the new one can be drawn.
            let old = current?.isDrawable == true ? current : outgoing
            play(next, after: current)
            current = next
            outgoing = next == nil ? nil : old
            transition = next == nil ? nil : RunningTransition(presentation.transition, animates: animates)
            isWaiting = false
            reached = .loaded
            changed()
        }

        private func play(_ layer: StageLayer?, after old: StageLayer?) {
            guard let layer, let image = layer.image, image.isAnimated else {
                player = nil
                return
            }
            let isComplete = layer.kind != .preview
            // More of the same picture: what plays goes on.
            if let player, let old, old.generation == layer.generation, old.kind == .preview,
                player.update(image, isComplete: isComplete)
            {
                layer.pixels = player.pixels
                return
            }
            var options = playback
            options.reducesMotion = options.reducesMotion || !animates
            let player = AnimationPlayer(image, manager: manager, options: options, isComplete: isComplete)
            self.player = player
            player?.isVisible = isVisible
            if autoplays { player?.play() }
            player?.needsTick = { [weak self] in
                if let self { self.host?.stageNeedsTick(self) }
            }
        }

        /// The size that the stage has by itself, in points; nil where there is none.
        var intrinsicSize: (width: Double, height: Double)? { current?.size(scale: scaleFactor) }

        private func changed(size: Bool = false) {
            guard !isDrawing else {
                // Sizes must not change while a frame is drawn; the tick tells of it.
                host?.stageNeedsTick(self)
                return
            }
            let size = intrinsicSize
            let isNew = size?.width != toldSize?.width || size?.height != toldSize?.height
            toldSize = size
            host?.stageChanged(self, size: isNew)
            if needsFrames { host?.stageNeedsTick(self) }
        }

        private func endTransition() {
            transition = nil
            outgoing = nil
        }

        // MARK: - Time

        private var needsFrames: Bool {
            transition != nil || isWaiting || player != nil || load != nil && indicator.isShown
        }

        /// Lets time pass; the time when it is next to be called, in nanoseconds: nil where that is not before something
        /// happens, `now` or earlier for the next frame.
        func advance(to now: Int) -> Int? {
            var deadlines: [Int] = []
            var isChanged = isWaiting
            if let tick = player?.tick(at: now) {
                if let pixels = tick.pixels {
                    current?.pixels = pixels
                    isChanged = true
                }
                if let deadline = tick.deadline { deadlines.append(deadline) }
            }
            if let transition {
                isChanged = true
                if transition.isOver(at: now) { endTransition() } else { deadlines.append(now) }
            }
            if isWaiting { deadlines.append(now) }
            if indicator.isShown, load != nil {
                if load?.since == nil { load?.since = now }
                let appears = (load?.since ?? now) + indicator.delayNanoseconds
                if now < appears {
                    deadlines.append(appears)
                } else {
                    isChanged = isChanged || load?.isSeen == false
                    load?.isSeen = true
                    if animates, indicator.moves(load?.fraction) {
                        isChanged = true
                        deadlines.append(now)
                    }
                }
            }
            let size = intrinsicSize
            let isNew = size?.width != toldSize?.width || size?.height != toldSize?.height
            toldSize = size
            if isChanged || isNew { host?.stageChanged(self, size: isNew) }
            return deadlines.min()
        }

        // MARK: - Drawing

        /// Draws all of it into a place of `width` × `height` points.
        func draw(_ snapshot: Snapshot, width: Double, height: Double) {
            guard width > 0, height > 0 else { return }
            isDrawing = true
            defer { isDrawing = false }
            host?.stage(self, hasPlace: width, height)
            let now = host?.frameTime ?? 0
            let box = (width: width, height: height)
            isWaiting = current?.prepare(at: now, .shared) == false
            if isWaiting { host?.stageNeedsTick(self) }
            var isOver = true
            if let current, current.isDrawable {
                isOver = !drawTransition(to: current, snapshot, box, now)
                if isOver { draw(current, snapshot, box) }
            } else {
                draw(outgoing, snapshot, box)
            }
            drawIndicator(snapshot, box, now)
            guard !isWaiting else { return }
            let old = reached
            reached = max(old, isOver ? .transitioned : .shown)
            if reached != old { host?.stageReached(self) }
        }

        /// False where there is none, or where it is over.
        private func drawTransition(
            to current: StageLayer, _ snapshot: Snapshot, _ box: (width: Double, height: Double), _ now: Int
        ) -> Bool {
            guard var transition, !isWaiting else { return false }
            transition.start = transition.start ?? now
            self.transition = transition
            let progress = transition.progress(at: now)
            guard progress < 1 else { return false }
            transition.transition.draw(
                TransitionFrame(
                    snapshot: snapshot.pointer, width: box.width, height: box.height, progress: progress,
                    drawOld: { self.draw(self.outgoing, snapshot, box) },
                    drawNew: { self.draw(current, snapshot, box) }))
            return true
        }

        private func draw(_ layer: StageLayer?, _ snapshot: Snapshot, _ box: (width: Double, height: Double)) {
            layer?.draw(snapshot, in: box, fit: fit, radius: cornerRadius, scale: scaleFactor)
        }

        private func drawIndicator(_ snapshot: Snapshot, _ box: (width: Double, height: Double), _ now: Int) {
            guard let load, load.isSeen, let since = load.since else { return }
            let seconds = animates ? Double(max(0, now - since)) / 1e9 : 0
            indicator.draw(
                IndicatorFrame(
                    snapshot: snapshot.pointer, width: box.width, height: box.height, fraction: load.fraction,
                    seconds: seconds, foreground: host?.foreground ?? .black))
        }
    }

    /// What the indicator tells of.
    struct LoadSigns: Equatable {
        /// 0 to 1; nil where it is not known.
        var fraction: Double?
        /// The time when the load was first seen to run, in nanoseconds.
        var since: Int?
        /// Whether the indicator is there: it waits a little for loads that are quick.
        var isSeen = false
    }
#endif
