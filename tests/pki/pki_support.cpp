#include "pki_support.hpp"

#include <openssl/pem.h>

#include <stdexcept>

#include "fedhur/pki/openssl.hpp"

namespace fedhur::pki {
namespace {
void free_bytes(void* bytes) { OPENSSL_free(bytes); }

struct Block {
  Owned<char, free_bytes> label;
  Owned<unsigned char, free_bytes> bytes;
  long size = 0;
};

Block read_block(const std::string& pem) {
  const BioPtr text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  char* label = nullptr;
  char* header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  if (PEM_read_bio(text.get(), &label, &header, &bytes, &size) != 1) {
    throw std::runtime_error("no PEM");
  }
  OPENSSL_free(header);
  Block block;
  block.label.reset(label);
  block.bytes.reset(bytes);
  block.size = size;
  return block;
}
}  // namespace

std::string flip_bit(const std::string& pem, std::size_t bit) {
  const Block block = read_block(pem);
  unsigned char& byte = block.bytes.get()[bit / 8];
  byte = static_cast<unsigned char>(byte ^ (1U << (bit % 8)));
  const BioPtr text(BIO_new(BIO_s_mem()));
  PEM_write_bio(text.get(), block.label.get(), "", block.bytes.get(), block.size);
  std::string result(BIO_ctrl_pending(text.get()), '\0');
  BIO_read(text.get(), result.data(), static_cast<int>(result.size()));
  return result;
}

std::size_t count_bits(const std::string& pem) {
  return static_cast<std::size_t>(read_block(pem).size) * 8;
}
}  // namespace fedhur::pki
