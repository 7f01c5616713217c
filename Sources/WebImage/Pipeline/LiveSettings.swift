// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// The settings that apply to a request, at the time when it started. A change of the settings creates another object.
final class SettingsSnapshot: Sendable {
    /// Numbers that increase when a setting changes. Keys of shared work contain them, because coders and loaders can't
    /// be compared.
    struct Revision: Hashable, Sendable {
        var coders = 0
        var loaders = 0
    }

    /// The coders as the application configured them.
    let coders: ImageCoderRegistry
    /// The coders that do the work, in this process or in helper processes.
    let working: IsolatedCoders
    let ownLoaders: [any ImageLoader]
    /// All loaders. The last one is tried first.
    let loaders: [any ImageLoader]
    let rules: ExchangeRules
    let revision: Revision

    fileprivate init(
        coders: ImageCoderRegistry, working: IsolatedCoders, ownLoaders: [any ImageLoader], builtIn: [any ImageLoader],
        rules: ExchangeRules,
        revision: Revision
    ) {
        self.coders = coders
        self.working = working
        self.ownLoaders = ownLoaders
        loaders = builtIn + ownLoaders
        self.rules = rules
        self.revision = revision
    }
}

extension SettingsSnapshot {
    /// Returns whether a load with these settings gives the same response as a load with other settings.
    func loadsLike(_ other: SettingsSnapshot) -> Bool {
        self === other || (rules == other.rules && revision.loaders == other.revision.loaders)
    }
}

/// The current settings of a running manager. Memory hits don't read them. Thread-safe.
final class LiveSettings: Sendable {
    private let state: Lock<SettingsSnapshot>
    private let builtIn: [any ImageLoader]
    private let rules: @Sendable () -> ExchangeRules
    private let identity: @Sendable () -> String?
    private let isolation: CoderIsolation

    /// `headerIdentity` must be fast. If `rules` returns the same object, the rules are the same.
    init(
        _ configuration: ImageManager.Configuration, builtIn: [any ImageLoader],
        rules: @escaping @Sendable () -> ExchangeRules,
        headerIdentity: @escaping @Sendable () -> String? = { nil }
    ) {
        self.builtIn = builtIn
        self.rules = rules
        identity = headerIdentity
        let rules = rules()
        isolation = CoderIsolation(configuration)
        state = Lock(
            SettingsSnapshot(
                coders: configuration.coders, working: isolation.isolating(configuration.coders),
                ownLoaders: configuration.loaders, builtIn: builtIn, rules: rules,
                revision: SettingsSnapshot.Revision()))
    }

    var current: SettingsSnapshot {
        state.withLock { snapshot in
            let rules = rules()
            // The application can also change the header fields of the downloader itself.
            if snapshot.rules !== rules {
                snapshot = SettingsSnapshot(
                    coders: snapshot.coders, working: snapshot.working, ownLoaders: snapshot.ownLoaders,
                    builtIn: builtIn, rules: rules,
                    revision: snapshot.revision)
            }
            return snapshot
        }
    }

    /// The identity of the header fields that can affect the data, for the keys of requests, or `nil` if there are none.
    /// It's fast in this case.
    var headerIdentity: String? { identity() }

    /// Returns the current settings for a request whose key was made without such header fields. If they were added in
    /// the meantime, the request is sent without them, so that its response belongs to its key.
    var currentWithoutHeaderIdentity: SettingsSnapshot {
        let snapshot = current
        guard snapshot.rules.headerIdentity != nil else { return snapshot }
        return SettingsSnapshot(
            coders: snapshot.coders, working: snapshot.working, ownLoaders: snapshot.ownLoaders, builtIn: builtIn,
            rules: snapshot.rules.removingHeaderIdentity(), revision: snapshot.revision)
    }

    /// Requests see all of the changes or none of them. `nil` keeps the current coders or loaders. `changeRules` must
    /// not use these settings.
    func update(coders: ImageCoderRegistry?, loaders: [any ImageLoader]?, changeRules: () -> Void) {
        // The deinitializers of coders and loaders can be code of the application.
        state.discard { snapshot in
            changeRules()
            let before = snapshot
            var revision = before.revision
            if coders != nil { revision.coders += 1 }
            if loaders != nil { revision.loaders += 1 }
            snapshot = SettingsSnapshot(
                coders: coders ?? before.coders,
                working: coders.map { isolation.isolating($0) } ?? before.working,
                ownLoaders: loaders ?? before.ownLoaders, builtIn: builtIn,
                rules: rules(), revision: revision)
            return before
        }
    }
}
