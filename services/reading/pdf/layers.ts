import type { Pdf } from "./openPdf.ts";

/** The layers of a file: groups of content that people can switch on and off, as they stand when it is opened. */
export interface Layers {
  /** Whether content is seen. `group`: what pdf.js says about its layer. */
  isVisible(group: unknown): boolean;
  /** False: nothing can be hidden. */
  exist: boolean;
}

/** The layers of pdf.js, one after the other. */
type LayerList = Pick<Layers, "isVisible"> & Iterable<unknown>;

/** The layers as they are seen on a screen; damaged ones are all seen. */
export const readLayers = async (pdf: Pdf): Promise<Layers> => {
  const config = (await pdf.getOptionalContentConfig().catch(() => null)) as LayerList | null;
  if (config === null) return { isVisible: () => true, exist: false };
  return { isVisible: (group) => config.isVisible(group), exist: !config[Symbol.iterator]().next().done };
};
