# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The netepoch authors
"""The experiments of the reviews, repeated; README.md says how."""
