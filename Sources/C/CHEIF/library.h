// SPDX-License-Identifier: MIT
// The functions of libheif that this module calls.
#pragma once
#include <CDynamicLibrary.h>
#include <libheif/heif.h>

#define LIBHEIF_FUNCTIONS(X)                                                                                           \
    X(heif_context_add_XMP_metadata) X(heif_context_add_exif_metadata) X(heif_context_alloc)                           \
    X(heif_context_encode_image) X(heif_context_encode_thumbnail) X(heif_context_free)                                 \
    X(heif_context_get_encoder_for_format) X(heif_context_get_image_handle)                                            \
    X(heif_context_get_list_of_top_level_image_IDs) X(heif_context_get_number_of_top_level_images)                     \
    X(heif_context_get_primary_image_ID) X(heif_context_read_from_memory_without_copy)                                 \
    X(heif_context_set_max_decoding_threads) X(heif_context_set_maximum_image_size_limit) X(heif_context_write)        \
    X(heif_decode_image) X(heif_decoder_descriptor_get_name) X(heif_decoding_options_alloc)                            \
    X(heif_decoding_options_free) X(heif_encoder_release) X(heif_encoder_set_lossy_quality)                            \
    X(heif_encoder_set_parameter_string) X(heif_encoding_options_alloc) X(heif_encoding_options_free)                  \
    X(heif_get_decoder_descriptors) X(heif_get_version) X(heif_have_encoder_for_format) X(heif_image_add_plane)        \
    X(heif_image_create) X(heif_image_get_bits_per_pixel_range) X(heif_image_get_height) X(heif_image_get_plane)       \
    X(heif_image_get_plane_readonly) X(heif_image_get_width) X(heif_image_handle_get_height)                           \
    X(heif_image_handle_get_list_of_thumbnail_IDs) X(heif_image_handle_get_luma_bits_per_pixel)                        \
    X(heif_image_handle_get_nclx_color_profile) X(heif_image_handle_get_raw_color_profile)                             \
    X(heif_image_handle_get_raw_color_profile_size) X(heif_image_handle_get_thumbnail)                                 \
    X(heif_image_handle_get_width) X(heif_image_handle_has_alpha_channel)                                              \
    X(heif_image_handle_is_premultiplied_alpha) X(heif_image_handle_release) X(heif_image_release)                     \
    X(heif_image_set_nclx_color_profile) X(heif_image_set_raw_color_profile) X(heif_nclx_color_profile_alloc)          \
    X(heif_nclx_color_profile_free) X(heif_nclx_color_profile_set_color_primaries)                                     \
    X(heif_nclx_color_profile_set_matrix_coefficients) X(heif_nclx_color_profile_set_transfer_characteristics)

WI_LIBRARY_TABLE(libheif, LIBHEIF_FUNCTIONS)
