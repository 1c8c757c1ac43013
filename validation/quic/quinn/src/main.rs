//! Transfers over quinn, with its own qlog. `quinn-end server PORT [THRESHOLDS]` or
//! `quinn-end client PORT up|down BYTES [THRESHOLDS]`; thresholds are `packets=N` and `rtts=X`.

use std::error::Error;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, Endpoint, QlogConfig, RecvStream, SendStream, ServerConfig, TransportConfig,
    VarInt,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// When all is there, acknowledgements of what came late are to arrive.
const LINGER: Duration = Duration::from_millis(400);
/// Larger than what is sent, so that it limits nothing.
const WINDOW: u32 = 64 << 20;
const ALPN: &[u8] = b"inorder";

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        match *words {
            ["server", port, ref rest @ ..] => serve(port.parse()?, rest).await,
            ["client", port, way, bytes, ref rest @ ..] => {
                ask(port.parse()?, way, bytes.parse()?, rest).await
            }
            _ => Err("server PORT, or client PORT up|down BYTES".into()),
        }
    })
}

fn transport(end: &str, words: &[&str]) -> Outcome<Arc<TransportConfig>> {
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(WINDOW));
    transport.receive_window(VarInt::from_u32(WINDOW));
    transport.send_window(WINDOW.into());
    for word in words {
        match word.split_once('=') {
            Some(("packets", value)) => transport.packet_threshold(value.parse()?),
            Some(("rtts", value)) => transport.time_threshold(value.parse()?),
            _ => return Err(format!("{word}: no threshold").into()),
        };
    }
    let mut log = QlogConfig::default();
    let folder = std::env::var("QLOGDIR")?;
    log.writer(Box::new(File::create(format!("{folder}/{end}.qlog"))?));
    transport.qlog_stream(log.into_stream());
    Ok(Arc::new(transport))
}

async fn serve(port: u16, words: &[&str]) -> Outcome<()> {
    let certificate = CertificateDer::from_pem_file(std::env::var("CERT")?)?;
    let key = PrivateKeyDer::from_pem_file(std::env::var("KEY")?)?;
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    tls.key_log = Arc::new(rustls::KeyLogFile::new());
    let mut settings = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    settings.transport_config(transport("server", words)?);
    let endpoint = Endpoint::server(settings, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    println!("ready");
    let connection = endpoint.accept().await.ok_or("closed")?.await?;
    let (mut send, mut receive) = connection.accept_bi().await?;
    let mut request = [0; 9];
    receive.read_exact(&mut request).await?;
    drain(&mut receive).await?;
    let [way, size @ ..] = request;
    let bytes = if way == b'd' {
        u64::from_be_bytes(size)
    } else {
        1
    };
    write(&mut send, bytes).await?;
    connection.closed().await;
    endpoint.wait_idle().await;
    Ok(())
}

async fn ask(port: u16, way: &str, bytes: u64, words: &[&str]) -> Outcome<()> {
    let mut tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider())))
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    tls.key_log = Arc::new(rustls::KeyLogFile::new());
    let mut settings = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    settings.transport_config(transport("client", words)?);
    let mut endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    endpoint.set_default_client_config(settings);
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let connection = endpoint.connect(server, "localhost")?.await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    let first = way.as_bytes().first().copied().unwrap_or_default();
    send.write_all(&[first]).await?;
    send.write_all(&bytes.to_be_bytes()).await?;
    write(&mut send, if first == b'u' { bytes } else { 0 }).await?;
    drain(&mut receive).await?;
    tokio::time::sleep(LINGER).await;
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    Ok(())
}

async fn write(stream: &mut SendStream, mut bytes: u64) -> Outcome<()> {
    let block = vec![0; 64 << 10];
    while bytes > 0 {
        let part = bytes.min(block.len() as u64);
        stream.write_all(&block[..part as usize]).await?;
        bytes -= part;
    }
    Ok(stream.finish()?)
}

async fn drain(stream: &mut RecvStream) -> Outcome<()> {
    let mut block = vec![0; 64 << 10];
    while stream.read(&mut block).await?.is_some() {}
    Ok(())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Takes every certificate: the server is ours.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
