#include "cluster/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

namespace headway::cluster {

namespace asio = boost::asio;

namespace {

Error openssl_error(const char* doing) {
  char words[256] = "";
  ERR_error_string_n(ERR_get_error(), words, sizeof(words));
  return {ErrorKind::internal, std::string("cannot ") + doing + ": " + words};
}

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

Result<std::unique_ptr<X509, Free>> self_signed(EVP_PKEY* key) {
  std::unique_ptr<X509, Free> certificate(X509_new());
  std::uint64_t serial = 0;
  if (!certificate || RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1) {
    return openssl_error("make a certificate");
  }
  constexpr long days_40_s = 40L * 24 * 3600;
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), days_40_s);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const unsigned char own[] = "headway driver";
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, own, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  if (X509_set_pubkey(certificate.get(), key) != 1 || X509_sign(certificate.get(), key, EVP_sha256()) == 0) {
    return openssl_error("sign a certificate");
  }
  return certificate;
}

std::shared_ptr<asio::ssl::context> make_context(asio::ssl::context::method method) {
  auto context = std::make_shared<asio::ssl::context>(method);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_3_VERSION);
  return context;
}

}  // namespace

Result<std::shared_ptr<asio::ssl::context>> server_context() {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  if (!key) return openssl_error("make a key");
  auto certificate = self_signed(key.get());
  if (!certificate) return certificate.error();
  auto context = make_context(asio::ssl::context::tls_server);
  if (SSL_CTX_use_certificate(context->native_handle(), certificate->get()) != 1 ||
      SSL_CTX_use_PrivateKey(context->native_handle(), key.get()) != 1) {
    return openssl_error("use a certificate");
  }
  return context;
}

std::shared_ptr<asio::ssl::context> client_context() {
  auto context = make_context(asio::ssl::context::tls_client);
  context->set_verify_mode(asio::ssl::verify_none);
  return context;
}

}  // namespace headway::cluster
