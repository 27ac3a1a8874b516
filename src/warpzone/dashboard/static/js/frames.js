// Frames from the server: pixels are indices of a palette that comes with them. All but the header is compressed.

export const WALL = 1;
export const DETAIL = 2;
export const SCREEN = 3;
export const VIEW = 4;

const CONFIRMED = new Set([WALL, SCREEN]);
const HEADER = 8;

// Unpacks messages and hands them to `show`, one at a time. Of messages that arrive meanwhile, only the newest of each
// kind counts, so a slow browser misses frames instead of falling behind. It confirms frames, since the server has only
// two of them on their way at a time: a slow connection misses frames, too.
export class FrameReader {
  constructor(connection, show) {
    this.connection = connection;
    this.show = show;
    this.waiting = new Map();
    this.busy = false;
  }

  async push(buffer) {
    const kind = new Uint8Array(buffer)[0];
    this.waiting.set(kind, buffer);
    if (!this.busy) await this.showWaiting();
    if (CONFIRMED.has(kind) && this.connection.readyState === WebSocket.OPEN) {
      this.connection.send(JSON.stringify({ shown: true }));
    }
  }

  async showWaiting() {
    this.busy = true;
    try {
      while (this.waiting.size) {
        const [kind, next] = this.waiting.entries().next().value;
        this.waiting.delete(kind);
        this.show(await unpack(next));
      }
    } finally {
      this.busy = false;
    }
  }
}

async function inflated(buffer) {
  const stream = new Blob([buffer]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

// Returns {kind, width, height, frames: [{env, pixels}], colors}; pixels are views, not copies.
async function unpack(buffer) {
  const header = new DataView(buffer, 0, HEADER);
  const kind = header.getUint8(0);
  const colorCount = header.getUint8(1);
  const count = header.getUint16(2, true);
  const width = header.getUint16(4, true);
  const height = header.getUint16(6, true);
  const body = await inflated(buffer.slice(HEADER));
  const view = new DataView(body);
  const bytes = new Uint8Array(body);
  const colors = new Uint32Array(256).fill(0xff000000);
  for (let index = 0; index < colorCount; index++) {
    const at = 3 * index;
    colors[index] = 0xff000000 | (bytes[at + 2] << 16) | (bytes[at + 1] << 8) | bytes[at];
  }
  const numbers = 3 * colorCount;
  const pixels = numbers + 2 * count;
  const size = width * height;
  const frames = [];
  for (let index = 0; index < count; index++) {
    const start = pixels + index * size;
    frames.push({ env: view.getUint16(numbers + 2 * index, true), pixels: bytes.subarray(start, start + size) });
  }
  return { kind, width, height, frames, colors };
}

// Draws a frame; the canvas takes its size.
export function draw(canvas, width, height, pixels, colors) {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  for (let index = 0; index < words.length; index++) words[index] = colors[pixels[index]];
  context.putImageData(image, 0, 0);
}
