const STATES = /\b(?:is|are|was|were|equals|returns|takes|accepts|holds|has|contains|lives|stands)\b|[=:] ?\d/i
const ORDERS = /\b(?:always|never|must|should|shall|do not|don['’]t|only|use|avoid|prefer|keep|run|write)\b/i

/** Whether a text says how something is, and orders nothing. */
export const isStatement = (text: string): boolean => STATES.test(text) && !ORDERS.test(text)
