// Frames from the server: pixels are indices of a palette that comes with them.

export const WALL = 1;
export const DETAIL = 2;
export const SCREEN = 3;
export const VIEW = 4;

const HEADER = 8;

// Returns {kind, width, height, frames: [{env, pixels}], colors}; pixels are views, not copies.
export function unpack(buffer) {
  const view = new DataView(buffer);
  const kind = view.getUint8(0);
  const colorCount = view.getUint8(1);
  const count = view.getUint16(2, true);
  const width = view.getUint16(4, true);
  const height = view.getUint16(6, true);
  const bytes = new Uint8Array(buffer);
  const colors = new Uint32Array(256).fill(0xff000000);
  for (let index = 0; index < colorCount; index++) {
    const at = HEADER + 3 * index;
    colors[index] = 0xff000000 | (bytes[at + 2] << 16) | (bytes[at + 1] << 8) | bytes[at];
  }
  const numbers = HEADER + 3 * colorCount;
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
