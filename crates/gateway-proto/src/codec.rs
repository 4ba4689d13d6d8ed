//! Encodes and decodes messages as prost does, with buffers that fit most messages, and from
//! contiguous memory.

use prost::Message;
use prost::bytes::Buf;
use std::marker::PhantomData;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

/// Initial buffer of a call in each direction, bytes. A question and its answer fit; for a batch it
/// grows.
const INITIAL_BUFFER_BYTES: usize = 256;
/// Size up to which ready messages of a stream are sent together, bytes.
const MAX_COALESCED_BYTES: usize = 32 << 10;

/// Writes messages `E`, reads messages `D`.
#[derive(Debug)]
pub struct MessageCodec<E, D>(PhantomData<(E, D)>);

impl<E, D> Default for MessageCodec<E, D> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<E, D> Codec for MessageCodec<E, D>
where
    E: Message + Send + 'static,
    D: Message + Default + Send + 'static,
{
    type Encode = E;
    type Decode = D;
    type Encoder = ProstEncoder<E>;
    type Decoder = MessageDecoder<D>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(BufferSettings::new(INITIAL_BUFFER_BYTES, MAX_COALESCED_BYTES))
    }

    fn decoder(&mut self) -> Self::Decoder {
        MessageDecoder(PhantomData)
    }
}

/// Reads messages.
#[derive(Debug)]
pub struct MessageDecoder<D>(PhantomData<D>);

impl<D: Message + Default> Decoder for MessageDecoder<D> {
    type Item = D;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<D>, Status> {
        let length = bytes.remaining();
        // A slice needs no check of the buffer's limits for each field.
        let message = match bytes.chunk() {
            whole if whole.len() == length => D::decode(whole),
            _ => D::decode(&mut *bytes),
        };
        bytes.advance(bytes.remaining());
        message.map(Some).map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(INITIAL_BUFFER_BYTES, MAX_COALESCED_BYTES)
    }
}
