import type { ReactNode } from "react";

/** The next steps after a creation: view the item, or create another one. */
export const NextSteps = ({ see, another, onNext }: { see: ReactNode; another: string; onNext: () => void }) => (
  <p className="title-line">
    {see}
    <button type="button" className="button" onClick={onNext}>
      {another}
    </button>
  </p>
);
