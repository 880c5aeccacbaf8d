import type { Decider } from "#events/decider.ts";
import { PricesRemoved, PricesSet, type ModelPrice, type PriceCommand, type PriceEvent } from "#events/price.ts";
import { Rejection } from "#events/rejection.ts";

/** A turn reads its model's prices from the head row of this stream. Empty: the organization has set none. */
export interface PriceState {
  prices: ModelPrice[];
}

export const price: Decider<PriceState, PriceCommand, PriceEvent> = {
  version: 1,
  initial: { prices: [] },
  decide(command, { prices }) {
    switch (command.type) {
      case "SetPrices":
        return [PricesSet.of(command.data)];
      case "RemovePrices":
        if (prices.length === 0)
          throw new Rejection("price_not_found", "The organization has set no price for this model.");
        return [PricesRemoved.of(command.data)];
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case "PricesSet":
        return { prices: event.data.prices };
      case "PricesRemoved":
        return { prices: [] };
    }
  },
};
