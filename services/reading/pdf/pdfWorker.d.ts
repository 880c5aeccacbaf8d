/* The package declares no types of its worker. */
declare module "pdfjs-dist/legacy/build/pdf.worker.mjs";
