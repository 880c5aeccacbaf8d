import type { Pdf } from "./openPdf.ts";

/** The layers of a file, which people can switch on and off, in their initial state. */
export interface Layers {
  /** Whether content is visible. `group`: the layer as pdf.js describes it. */
  isVisible(group: unknown): boolean;
  /** False if no content can be hidden. */
  exist: boolean;
}

/** The layers of pdf.js, in order. */
type LayerList = Pick<Layers, "isVisible"> & Iterable<unknown>;

/** The layers as displayed on a screen; damaged ones all count as visible. */
export const readLayers = async (pdf: Pdf): Promise<Layers> => {
  const config = (await pdf.getOptionalContentConfig().catch(() => null)) as LayerList | null;
  if (config === null) return { isVisible: () => true, exist: false };
  return { isVisible: (group) => config.isVisible(group), exist: !config[Symbol.iterator]().next().done };
};
