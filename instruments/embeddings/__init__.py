"""Separation of two cultures' entities in a model: hidden states, their Davies-Bouldin index and a map.

- `step`: what is compared; entities in their contexts to vectors in the store
- `separation`: vectors to the index, its interval and its permutation test
- `measure`: the index of every type, and each entity's position on the map
- `section`: the report section
"""
