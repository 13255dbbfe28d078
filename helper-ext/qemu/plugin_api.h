/* SPDX-License-Identifier: MIT */
/*
 * plugin_api.h - the part of QEMU's plugin interface that we use.
 *
 * Debian 12 has the interface in its qemu-x86_64 but no header for it. Declared here from the documentation ("QEMU TCG
 * Plugins", docs/devel/tcg-plugins.rst of QEMU 7.2, interface version 1): names, arguments, and that the plugin exports
 * qemu_plugin_version and qemu_plugin_install().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_VERSION 1

typedef uint64_t plugin_id;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* The head of QEMU's qemu_info_t: its end is about whole systems. */
struct plugin_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
};

/* What a callback does with the guest's registers: ours do not use them. */
enum plugin_registers { PLUGIN_NO_REGISTERS };

typedef void plugin_translate(plugin_id id, struct qemu_plugin_tb *block);
typedef void plugin_execute(unsigned vcpu, void *data);
typedef void plugin_syscall(plugin_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
			    uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
typedef void plugin_syscall_end(plugin_id id, unsigned vcpu, int64_t number, int64_t result);

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, plugin_translate *cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, plugin_execute *cb, enum plugin_registers flags,
					  void *data);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, plugin_syscall *cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id id, plugin_syscall_end *cb);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t at);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
