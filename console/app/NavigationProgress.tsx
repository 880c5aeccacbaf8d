import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** Shows that a screen is loading while the previous one is still visible. */
export function NavigationProgress() {
  const router = useRouter();
  const [isOpening, setOpening] = useState(false);
  useEffect(() => {
    const ends = [
      router.subscribe("onBeforeLoad", ({ pathChanged }) => setOpening(pathChanged)),
      router.subscribe("onResolved", () => setOpening(false)),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [router]);
  return (
    <div role="status" className="opening">
      {isOpening && <span className="hidden-text">Opening the screen…</span>}
    </div>
  );
}
