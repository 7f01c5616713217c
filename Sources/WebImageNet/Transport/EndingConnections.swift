// SPDX-License-Identifier: MIT

import WebImageCore

/// The HTTP/2 connections that have ended. libcurl detects this with only one of the streams, and the others would wait
/// indefinitely.
final class EndingConnections {
    /// The connections, and the progress of their transfers in the previous pass.
    private var noted: [(connection: Connection, progress: [UInt64: Int])] = []

    /// Records a connection if it's an HTTP/2 connection that has ended.
    func record(_ connection: Connection, _ sockets: IdleConnectionChecker) {
        guard connection.isMultiplexed, !connection.isSpoiled, connection.isAtEnd else { return }
        sockets.spoil(connection)
        noted.append((connection, [:]))
    }

    /// Returns the transfers for which libcurl has delivered all buffered data, or `nil` if there are no connections.
    func takeStalled(_ running: [UInt64: Transfer]) -> [Transfer]? {
        guard !noted.isEmpty else { return nil }
        var stalled: [Transfer] = []
        let earlier = noted
        noted = []
        for (connection, before) in earlier {
            var progress: [UInt64: Int] = [:]
            for transfer in running.values where transfer.uses(connection) {
                if before[transfer.id] == transfer.progress {
                    stalled.append(transfer)
                } else {
                    progress[transfer.id] = transfer.progress
                }
            }
            if !progress.isEmpty { noted.append((connection, progress)) }
        }
        return stalled
    }
}
