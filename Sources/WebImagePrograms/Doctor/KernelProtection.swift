// SPDX-License-Identifier: MIT

import CFiles
import Glibc
import WebImageCommand

/// A layer of isolation, and whether it exists.
package struct IsolationLayer: Sendable, Equatable {
    /// The state of a layer.
    package enum State: Sendable, Equatable {
        /// The kernel offers the layer, or the layer is active.
        case available(String)
        /// The layer doesn’t exist, with the reason.
        case missing(reason: String)
    }

    /// A stable name for programs, such as `landlock`.
    package let id: String
    package let name: String
    package let state: State

    package init(_ id: String, _ name: String, _ state: State) {
        self.id = id
        self.name = name
        self.state = state
    }

    /// The check of the layer. A missing layer is a note, because the other layers still protect the process.
    package var check: DoctorReport.Check {
        switch state {
        case .available(let detail): .init(id, .ok, name, detail)
        case .missing(let reason): .init(id, .note, name, "Missing: \(reason).")
        }
    }
}

/// The isolation that the kernel offers, as numbers and texts of its interfaces.
package struct KernelProtection: Sendable, Equatable {
    /// The version of Landlock’s interface, or a negated errno.
    package var landlockVersion: Int32 = -ENOSYS
    /// 1 if the kernel supports filters of system calls, or a negated errno.
    package var seccompFilters: Int32 = -ENOSYS
    /// The seccomp mode of the process, or a negated errno.
    package var seccompMode: Int32 = 0
    /// 1 if the process can’t gain privileges, 0 if it can, or a negated errno.
    package var noNewPrivileges: Int32 = 0
    /// 0 if memory files can be created, or a negated errno.
    package var memoryFile: Int32 = 0
    /// The contents of `/proc/sys/kernel/unprivileged_userns_clone`, which only some distributions have.
    package var unprivilegedClone: String?
    /// The contents of `/proc/sys/user/max_user_namespaces`.
    package var maxUserNamespaces: String?
    /// The contents of `/proc/sys/kernel/apparmor_restrict_unprivileged_userns`.
    package var appArmorRestriction: String?

    package init() {}

    /// Queries the kernel. Blocks.
    package static func current() -> KernelProtection {
        var kernel = KernelProtection()
        kernel.landlockVersion = wi_landlock_version()
        kernel.seccompFilters = wi_seccomp_filters()
        kernel.seccompMode = wi_seccomp_mode()
        kernel.noNewPrivileges = wi_no_new_privileges()
        kernel.memoryFile = wi_memory_file()
        kernel.unprivilegedClone = SmallFile.text("/proc/sys/kernel/unprivileged_userns_clone")
        kernel.maxUserNamespaces = SmallFile.text("/proc/sys/user/max_user_namespaces")
        kernel.appArmorRestriction = SmallFile.text("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        return kernel
    }

    /// The layers in the order of the report.
    package var layers: [IsolationLayer] {
        [
            IsolationLayer("landlock", "Landlock", landlock), IsolationLayer("seccomp", "seccomp", seccomp),
            IsolationLayer("noNewPrivileges", "no_new_privs", privileges),
            IsolationLayer("userNamespaces", "user namespaces", userNamespaces),
            IsolationLayer("memoryFiles", "memory files", memoryFiles),
        ]
    }

    private var landlock: IsolationLayer.State {
        switch landlockVersion {
        case 1...: .available("The kernel supports version \(landlockVersion) of the interface.")
        case -ENOSYS: .missing(reason: "the kernel has no Landlock (Linux 5.13 or later has it)")
        case -EOPNOTSUPP: .missing(reason: "Landlock is disabled (add it to lsm= on the kernel command line)")
        default: .missing(reason: Self.text(landlockVersion))
        }
    }

    private var seccomp: IsolationLayer.State {
        guard seccompFilters == 1 else { return .missing(reason: Self.text(seccompFilters)) }
        let active = seccompMode == 2 ? "This process already has a filter." : "This process has no filter."
        return .available("The kernel supports filters of system calls. \(active)")
    }

    private var privileges: IsolationLayer.State {
        switch noNewPrivileges {
        case 1: .available("This process can’t gain privileges.")
        case 0: .available("The kernel supports the flag. It isn’t set for this process.")
        default: .missing(reason: Self.text(noNewPrivileges))
        }
    }

    private var userNamespaces: IsolationLayer.State {
        if unprivilegedClone == "0" { return .missing(reason: "kernel.unprivileged_userns_clone is 0") }
        if appArmorRestriction == "1" {
            return .missing(reason: "AppArmor restricts them (kernel.apparmor_restrict_unprivileged_userns is 1)")
        }
        guard let maxUserNamespaces else { return .missing(reason: "the kernel doesn’t report their limit") }
        guard let count = Int(maxUserNamespaces), count > 0 else {
            return .missing(reason: "user.max_user_namespaces is \(maxUserNamespaces)")
        }
        return .available("Unprivileged processes can create up to \(NumberFormatting.grouped(count)).")
    }

    private var memoryFiles: IsolationLayer.State {
        memoryFile == 0
            ? .available("The kernel supports sealed memory files.") : .missing(reason: Self.text(memoryFile))
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code == .min ? 0 : abs(code))) }
}
