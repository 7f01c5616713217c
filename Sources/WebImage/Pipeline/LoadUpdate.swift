// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore
import WebImageNet

/// What a load tells those who wait for it.
enum LoadUpdate: Sendable {
    case waiting(WaitReason)
    case progress(ImageProgress)

    var event: ImageEvent {
        switch self {
        case .waiting(let reason): .waiting(reason)
        case .progress(let progress): .progress(progress)
        }
    }
}

extension Engine {
    /// Why a load that is about to be handed to `loader` will not start at once; nil where it will, or where the loader
    /// does not tell.
    func waitReason(of loader: any ImageLoader, _ plan: RequestPlan) -> WaitReason? {
        guard let downloader = loader as? ImageDownloader else { return nil }
        let settings = configuration.downloader
        let host = downloader.activity(at: plan.request.url)
        if host.queued > 0 || host.running >= settings.connectionsPerHost { return .hostLimit }
        let all = downloader.activity
        if all.running >= settings.totalConnections { return .queue }
        // Places are free, and still others wait: for their turn.
        guard all.queued > 0 else { return nil }
        return settings.startRate == nil ? .queue : .rate
    }

    /// Runs a load between two events and counts it.
    func counted(
        _ plan: RequestPlan, _ transfer: TransferTrace?, _ body: () async throws(ImageError) -> LoadResponse
    ) async throws(ImageError) -> LoadResponse {
        let isRemote = !plan.isOnThisMachine
        counters.loads.add(1, ordering: .relaxed)
        if isRemote { activity.change(by: 1) }
        defer { if isRemote { activity.change(by: -1) } }
        let span = plan.trace?.begin(.load, key: plan.keys.data)
        do throws(ImageError) {
            let answer = try await body()
            counters.bytesLoaded.add(answer.body.count, ordering: .relaxed)
            transfer?.end(bytes: answer.body.count, error: nil)
            span?.end { event in
                event.bytes = answer.body.count
                event.origin = isRemote ? .network : .local
            }
            return answer
        } catch {
            transfer?.end(bytes: nil, error: error)
            span?.end { $0.error = error }
            throw error
        }
    }
}
