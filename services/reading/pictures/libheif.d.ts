/** What of libheif is used; the package has no types. */
declare module "libheif-js/wasm-bundle.js" {
  export interface HeifImage {
    get_width(): number;
    get_height(): number;
    display(into: { data: Uint8ClampedArray; width: number; height: number }, done: (shown: unknown) => void): void;
    free(): void;
  }
  const heif: { HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] } };
  export default heif;
}
