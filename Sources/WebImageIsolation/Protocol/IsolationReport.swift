// SPDX-License-Identifier: MIT

import CSandbox
import Glibc
import WebImageCore

/// The layers that confine a helper process, as the helper reported them when it started.
package struct IsolationReport: Sendable, Hashable {
    /// The state of a layer.
    package enum State: Sendable, Hashable {
        /// The layer confines the helper.
        case active
        /// The layer doesn't exist on this system, with the reason.
        case missing(reason: String)
    }

    /// The helper and its children can't gain privileges.
    package var noNewPrivileges: State
    /// The helper has no network, because its network namespace is empty.
    package var networkNamespace: State
    /// Limits of memory, processor time, and files.
    package var resourceLimits: State
    /// The helper can't access the file system, except fonts if it decodes vector images.
    package var landlock: State
    /// A filter of system calls.
    package var systemCallFilter: State
    /// The version of Landlock's interface, or 0.
    package var landlockVersion: Int

    /// All layers with their names.
    package var layers: [(name: String, state: State)] {
        [
            ("no new privileges", noNewPrivileges), ("network namespace", networkNamespace),
            ("resource limits", resourceLimits), ("Landlock", landlock), ("system call filter", systemCallFilter),
        ]
    }
}

extension IsolationReport: BinaryCodable {
    /// Creates a report of the results of the confinement.
    package init(_ layers: wi_sandbox_layers) {
        self.init(
            numbers: [layers.privileges, layers.namespaces, layers.limits, layers.landlock, layers.seccomp],
            landlockVersion: Int(layers.landlockVersion))
    }

    private init(numbers: [Int32], landlockVersion: Int) {
        let states = numbers.map { number -> State in
            number == 0 ? .active : .missing(reason: String(cString: strerror(number)))
        }
        noNewPrivileges = states[0]
        networkNamespace = states[1]
        resourceLimits = states[2]
        landlock = states[3]
        systemCallFilter = states[4]
        self.landlockVersion = landlockVersion
    }

    package init(from reader: inout BinaryReader) throws(MalformedData) {
        func state(_ reader: inout BinaryReader) throws(MalformedData) -> State {
            try reader.value(Bool.self) ? .active : .missing(reason: try reader.text(limit: 1_000))
        }
        noNewPrivileges = try state(&reader)
        networkNamespace = try state(&reader)
        resourceLimits = try state(&reader)
        landlock = try state(&reader)
        systemCallFilter = try state(&reader)
        landlockVersion = try reader.int(0...1_000)
    }

    package func write(to writer: inout BinaryWriter) {
        for (_, state) in layers {
            writer.put(state == .active)
            if case .missing(let reason) = state { writer.put(reason) }
        }
        writer.put(landlockVersion)
    }
}
