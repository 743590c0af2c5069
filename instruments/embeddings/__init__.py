"""How far apart a model holds the entities of two cultures: hidden states, their Davies-Bouldin index and a map.

- `stage`: entities in their contexts to vectors in the store
- `separation`: vectors to the index, its interval and its permutation test
- `measure`: the index of every type, and where each entity stands on the map
- `section`: what the report shows of it
"""
