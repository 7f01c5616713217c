// SPDX-License-Identifier: MIT

/// The transfers that wait until libcurl has opened a connection.
final class PostponedTransfers {
    private var transfers: [Transfer] = []
    /// Whether a transfer ended or restarted since the last pass.
    private var mayStart = false
    private var establishedBefore = 0

    func add(_ transfer: Transfer) { transfers.append(transfer) }
    func allowStart() { mayStart = true }

    func isPending(established: Int) -> Bool { !transfers.isEmpty && established != establishedBefore }

    /// Starts the transfers again if the connection for which they wait may be open or has failed.
    func startAll(established: Int, _ start: (Transfer) -> Void) {
        defer { (mayStart, establishedBefore) = (false, established) }
        guard mayStart || isPending(established: established) else { return }
        let transfers = transfers
        self.transfers = []
        for transfer in transfers { start(transfer) }
    }
}
