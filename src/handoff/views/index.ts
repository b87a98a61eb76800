export { unreadEdits } from './copies.ts'
export { ownViews, readEdits, refreshViews, VIEWS } from './refresh.ts'
