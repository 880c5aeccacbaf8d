import type { ReactNode } from "react";

/** What follows after a thing was made: seeing it, or making another one. */
export const NextOne = ({ see, another, onNext }: { see: ReactNode; another: string; onNext: () => void }) => (
  <p className="title-line">
    {see}
    <button type="button" className="button" onClick={onNext}>
      {another}
    </button>
  </p>
);
